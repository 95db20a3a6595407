import type { Difference } from '../../contract/host.ts';
import type { InstallRecord } from '../machine/record.ts';
import { countAttachments, hasUploads, readWebsiteData } from '../websites/read-website-data.ts';
import { type JudgedData, judgeData, type Loss, lostUploads } from '../websites/website-losses.ts';
import type { InspectedHost } from './inspected-host.ts';

/** Finds the data that an install has lost, except uploads. Changes nothing. */
export async function inspectData(
  { layout, databases }: InspectedHost,
  { state: { id }, placement }: InstallRecord,
): Promise<JudgedData> {
  const data = await readWebsiteData(layout, databases, { id }, placement.database);
  return judgeData(data, placement.seen ?? null);
}

/** Finds the loss of all uploads of a website without other losses. Asks the database as the website's user. */
export async function inspectUploads(
  { layout, databases }: InspectedHost,
  { state, placement }: InstallRecord,
  { seen }: JudgedData,
): Promise<Loss[]> {
  // A bucket may have them.
  if (seen === null || state.offload !== null || (await hasUploads(layout, state.id))) return [];
  return lostUploads(await countAttachments(databases, placement.database, seen.tablePrefix));
}

/** The losses as differences. `isClosed`: whether visitors see that the website is closed. */
export function lossDifferences(
  { state: { id, name } }: InstallRecord,
  losses: Loss[],
  { isRepairing, isClosed }: { isRepairing: boolean; isClosed: boolean },
): Difference[] {
  return losses.map(({ message, closes, remedy }) => ({
    thing: `install ${name}: data`,
    message: closes && isClosed ? `${message} The website is closed to visitors.` : message,
    mended: isRepairing ? false : null,
    remedy: remedy ?? `Restore a backup of it: homeport backup list --install ${name}`,
    ...(remedy === null ? { backupOf: id } : {}),
  }));
}
