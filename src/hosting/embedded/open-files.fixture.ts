import fs from 'node:fs';

/** The paths under a folder that this process has open; empty if the system cannot list them. */
export function openFilesIn(folder: string): string[] {
  if (process.platform !== 'linux') return [];
  const own = '/proc/self/fd';
  return fs
    .readdirSync(own)
    .map((number) => targetOf(`${own}/${number}`))
    .filter((path) => path.startsWith(folder));
}

function targetOf(link: string): string {
  try {
    return fs.readlinkSync(link);
  } catch {
    // Closed meanwhile, like the descriptor that read the list.
    return '';
  }
}
