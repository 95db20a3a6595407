import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, link, mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inject } from 'vitest';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { TESTS_CODE } from '../../runtime/wasm/kept-code.fixture.ts';
import { startHost } from '../embedded-host.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import type { WordPressSettings } from '../host-options.ts';
import { realPhp, realWordPress } from './real-wordpress.fixture.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder for what the tests of one run prepare once; left out where every test prepares for itself. */
    preparedFolder?: string;
  }
}

/** Files that a host prepares for its first website. */
const PARTS = ['wordpress', 'golden', 'sqlite-plugin', 'wp-cli'];

/** Gives a new host's folder what a host has prepared once for the whole run: WordPress, the website to copy, and PHP's machine code. */
export async function fillWithWordPress(folder: string): Promise<void> {
  const source = await preparedHost();
  if (source === null) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const part of PARTS) await linked(join(source, part), join(folder, part));
  const code = layoutOf(folder).phpCode;
  await mkdir(code);
  for (const name of (await ifThere(readdir(TESTS_CODE))) ?? []) {
    if (name.startsWith('.')) continue;
    const [from, to] = [join(TESTS_CODE, name), join(code, name)];
    await link(from, to).catch(() => cp(from, to));
  }
}

/** A host on a folder that has WordPress. */
export async function startWordPressHost(
  parts: Partial<WordPressSettings> = {},
  changes: Parameters<typeof startHost>[0] = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-edge-'));
  await fillWithWordPress(folder);
  return startHost({ ...changes, folder, wordpress: realWordPress(parts) });
}

/** With hard links, because nothing writes to these files: each website gets copies. */
async function linked(from: string, to: string): Promise<void> {
  if (process.platform !== 'linux') return cp(from, to, { recursive: true });
  await runCommand('cp', ['--archive', '--link', '--', from, to], { timeoutMs: 60_000 });
}

/** The first process that asks prepares it, and the others wait. */
async function preparedHost(): Promise<string | null> {
  const folder = inject('preparedFolder');
  if (folder === undefined) return null;
  const host = join(folder, 'host');
  const lock = join(folder, 'lock');
  while (!existsSync(host)) {
    const isFirst = await open(lock, 'wx').then((file) => file.close().then(() => true), isTaken);
    if (!isFirst) {
      await pause(100);
      continue;
    }
    try {
      if (!existsSync(host)) await prepare(join(folder, randomUUID()), host);
    } finally {
      await rm(lock, { force: true });
    }
  }
  return host;
}

function isTaken(error: unknown): false {
  if (hasCode(error, 'EEXIST')) return false;
  throw error;
}

async function prepare(scratch: string, folder: string): Promise<void> {
  let warmed: Promise<void> | undefined;
  const { host } = await startHost({
    folder: scratch,
    wordpress: realWordPress({
      createPhp(given) {
        const php = realPhp(given);
        const warmUp: typeof php.warmUp = (page) => {
          warmed = php.warmUp(page);
          return warmed;
        };
        return { ...php, running: 0, warmUp };
      },
    }),
  });
  try {
    const prepared = await host.prepareWordPress();
    if ('reason' in prepared) throw new Error(prepared.reason);
    // It also makes the machine code, if this checkout has none.
    await warmed;
  } finally {
    await host.stop();
  }
  await rename(scratch, folder);
}
