import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { notedText, parseNoted, sinceNoted } from './changed-files.ts';
import type { ArchivedChanges } from './make-backup.ts';
import { canonicalId } from './repositories.ts';
import { listWebsite } from './website-listing.ts';

/** The beginning of the names of an install's listings in the scratch folder. */
export const listingsOf = (installId: string): string => `listing-${canonicalId(installId)}-`;

/** Listings of websites that were noted before a snapshot. They are lost when the host starts, and the move then copies everything again. */
export interface NotedListings {
  note(install: HostedInstall, backupId: string, signal: AbortSignal | undefined): Promise<void>;
  has(installId: string, backupId: string): Promise<boolean>;
  /** Changes since the listing of this backup; null without one. `isMost`: see {@link sinceNoted}. */
  since(
    install: HostedInstall,
    backupId: string,
    signal: AbortSignal | undefined,
  ): Promise<(ArchivedChanges & { isMost: boolean }) | null>;
  forget(installId: string, backupId: string): Promise<void>;
}

export function createNotedListings({ layout, clock }: { layout: LinuxLayout; clock: Clock }): NotedListings {
  const fileOf = (installId: string, backupId: string) =>
    join(layout.scratch, `${listingsOf(installId)}${canonicalId(backupId)}`);

  return {
    async note({ ref, sandbox }, backupId, signal) {
      const at = clock.now().getTime() / 1_000;
      const text = await notedText(await listWebsite(layout, sandbox, { signal }), at);
      await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
      await writeFile(fileOf(ref.id, backupId), text, { encoding: 'latin1', mode: 0o600 });
    },
    has: async (installId, backupId) => (await ifThere(stat(fileOf(installId, backupId)))) !== null,
    async since({ ref, sandbox }, backupId, signal) {
      const text = await ifThere(readFile(fileOf(ref.id, backupId), 'latin1'));
      if (text === null) return null;
      return {
        base: backupId,
        ...(await sinceNoted(await listWebsite(layout, sandbox, { signal }), await parseNoted(text))),
      };
    },
    forget: (installId, backupId) => rm(fileOf(installId, backupId), { force: true }),
  };
}
