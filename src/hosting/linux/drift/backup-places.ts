import { refusedPlaceSentence } from '../../contract/backup-places.ts';
import type { Backups } from '../backups/backups.ts';
import type { Fault } from './finding.ts';

/** Compares the place of the backups with the settings. */
export async function inspectBackupPlaces(backups: Pick<Backups, 'places'>): Promise<Fault[]> {
  const { current, configured, refused, waiting } = await backups.places();
  if (refused !== null) {
    return [
      {
        message: refusedPlaceSentence(current, refused),
        repair: null,
        remedy: `To go back, set HOMEPORT_BACKUP_REPOSITORY to ${current} again.`,
      },
    ];
  }
  const faults: Fault[] = [];
  if (waiting.length > 0) {
    const number = waiting.length === 1 ? '1 install' : `${waiting.length} installs`;
    faults.push({
      message: `The move of the backups to ${current} is not finished: those of ${number} are in the former place.`,
      repair: null,
      remedy: `Continue it: homeport host backups move --to ${current}`,
    });
  }
  if (configured !== current) {
    faults.push({
      message: `HOMEPORT_BACKUP_REPOSITORY is ${configured}, but the backups were moved to ${current}.`,
      repair: null,
      remedy: `Set it to ${current} in the settings of the host, with its HOMEPORT_BACKUP_CREDENTIALS. The next start then follows the settings.`,
    });
  }
  return faults;
}
