import fs from 'node:fs';

/** The paths under a folder that this process has open; none where the system does not tell. */
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
    // Closed meanwhile, as the one that the list was read by.
    return '';
  }
}
