import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { startProgram } from '../../../lib/started-program.ts';
import { countedBytes, exceededLimit, type InstallUsage } from '../../contract/install-limits.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

const FIND = '/usr/bin/find';
/** `find` also exits with this if a folder vanished or cannot be read; tar reports that with the file's name. */
const INCOMPLETE = 1;

/**
 * Measures the files of a website. Like tar, `find` runs as the install in its sandbox. Stops as soon as a limit is exceeded, so
 * that many files do not take long.
 */
export async function measureWebsite(
  layout: LinuxLayout,
  install: SandboxedInstall,
  signal: AbortSignal | undefined,
): Promise<InstallUsage> {
  const { home, ...folders } = foldersOf(layout, install);
  const find = startProgram(
    sandboxCommand(
      layout,
      install,
      [
        FIND,
        ...Object.values(folders).map((path) => basename(path)),
        '-xdev',
        '-mindepth',
        '1',
        '-printf',
        '%y %s %b\\n',
      ],
      { folder: home, terminal: true, network: false },
    ),
    { statuses: [0, INCOMPLETE], ownSession: true },
  );
  const stop = () => find.stop();
  signal?.addEventListener('abort', stop);
  find.stdin.end();
  const usage: InstallUsage = { bytes: 0, files: 0 };
  try {
    for await (const line of createInterface({ input: find.stdout })) {
      const [kind, size, blocks] = line.split(' ');
      usage.files += 1;
      if (kind === 'f') usage.bytes += countedBytes(Number(size), Number(blocks));
      if (exceededLimit(usage, layout.limits) !== null) return usage;
    }
    signal?.throwIfAborted();
    await find.ended;
    return usage;
  } finally {
    signal?.removeEventListener('abort', stop);
    await find.stop();
  }
}
