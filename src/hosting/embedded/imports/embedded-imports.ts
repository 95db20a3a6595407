import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { WebsiteImports } from '../../contract/imports.ts';
import type { InstallLimits } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { createWebsiteImports } from '../../websites/imports/website-imports.ts';
import type { Layout } from '../host-folder/layout.ts';
import { keepReplacementRecord, readReplacementRecord } from '../replacement-record.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { adoptDatabase, announceDatabase, isDatabaseAnnounced } from '../wordpress/adopted-database.ts';
import { copyTree } from '../wordpress/copy-tree.ts';
import type { EmbeddedWordPress } from '../wordpress/embedded-wordpress.ts';
import { writeHostFiles } from '../wordpress/golden-copies.ts';
import { noteAddresses } from '../wordpress/noted-addresses.ts';
import { keepPrivateFolder, restoredIn } from '../wordpress/restored-parts.ts';
import { PRIVATE, type SiteFacts } from '../wordpress/site.ts';
import { type BuiltWebsite, stageImports } from './staged-website.ts';

interface EmbeddedImportsOptions {
  layout: Layout;
  snapshots: Pick<Snapshots, 'recover' | 'replace'>;
  /** Rejects with a `PermanentHostError` for a website of files. */
  websiteOf(install: InstallRef): Promise<ImportedInto>;
  limits: InstallLimits;
  randomness: Randomness;
  log: Logger;
  authority?: string | undefined;
}

/** The WordPress of an install that an import replaces. */
interface ImportedInto {
  wordpress: Pick<EmbeddedWordPress, 'php' | 'sites' | 'wpCli'>;
  facts: SiteFacts;
  /** See `ImportableWebsite`. */
  serve(signal?: AbortSignal): Promise<void>;
  warning(signal?: AbortSignal): Promise<string | null>;
}

/** Imports existing websites into installs of this host, of each install one after the other. */
export function createEmbeddedImports(options: EmbeddedImportsOptions): WebsiteImports {
  const { layout, snapshots, limits, randomness, log, authority } = options;
  const serially = serializeByKey();

  const imports = createWebsiteImports({
    async websiteOf(install) {
      const { wordpress, facts, serve, warning } = await options.websiteOf(install);
      const { php, sites, wpCli } = wordpress;
      const adopt = () => adoptDatabase(layout, install.id);
      const closed = <Result>(work: () => Promise<Result>): Promise<Result> =>
        wpCli.whileRefused(install.id, () => php.withoutProcess(install.id, work));

      async function replace(built: BuiltWebsite, record: string | null): Promise<void> {
        await completeContent(built, join(layout.coreOf(facts.version), 'wp-content'));
        const fill = (next: string, present: string) =>
          putTogether(built, { next, present, origin: facts.origin }, () =>
            keepReplacementRecord(layout, install.id, next, record),
          );
        await closed(() => snapshots.replace(install, fill).finally(adopt));
      }

      return {
        limits,
        async recover() {
          await snapshots.recover(install.id);
          if (isDatabaseAnnounced(layout, install.id)) await closed(adopt);
        },
        record: () => readReplacementRecord(layout, install.id),
        stage: stageImports({ layout, php, sites, install, facts, limits, randomness, replace }),
        serve,
        warning,
      };
    },
    log,
    ...(authority === undefined ? {} : { authority }),
  });

  return {
    importWebsite: (install, ...order) =>
      serially(install.id, () => imports.importWebsite(install, ...order)),
    lastImport: (install) => serially(install.id, () => imports.lastImport(install)),
  };
}

/** Adds the host's files, and the themes of WordPress that the archive lacks: one of them may be in use. */
async function completeContent({ files, content }: BuiltWebsite, core: string): Promise<void> {
  const place = join(files, 'wp-content');
  await rm(place, { recursive: true });
  await rename(content, place);
  for (const name of ['plugins', 'themes', 'uploads']) await mkdir(join(place, name), { recursive: true });
  const themes = join(core, 'themes');
  for (const entry of (await ifThere(readdir(themes, { withFileTypes: true }))) ?? []) {
    const to = join(place, 'themes', entry.name);
    if (!entry.isDirectory() || (await ifThere(lstat(to))) !== null) continue;
    await copyTree(join(themes, entry.name), to);
  }
  await writeHostFiles(files);
}

/** Makes the folder `next` of a built website, with the private folder of the present one. */
async function putTogether(
  { files, database }: BuiltWebsite,
  { next, present, origin }: { next: string; present: string; origin: string },
  record: () => Promise<void>,
): Promise<void> {
  await rename(files, next);
  const own = join(next, PRIVATE);
  if ((await ifThere(lstat(join(present, PRIVATE)))) === null) await mkdir(own, { mode: 0o700 });
  else await keepPrivateFolder(next, present);
  await rename(database, restoredIn(next).database);
  await noteAddresses(own, [origin]);
  await syncFolder(own);
  await syncFolder(next);
  await announceDatabase(present, restoredIn(next).database);
  await record();
}
