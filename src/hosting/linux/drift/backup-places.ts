import { countedBackups, refusedPlaceSentence, unseenPlaceSentence } from '../../contract/backup-places.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { Backups } from '../backups/backups.ts';
import { countSnapshots } from '../backups/count-snapshots.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { Fault } from './finding.ts';

/** Compares the place of the backups with the settings, and the default place with `expected`: the installs of the control plane. */
export async function inspectBackupPlaces(
  { backups, layout }: { backups: Pick<Backups, 'places'>; layout: Pick<LinuxLayout, 'backups'> },
  expected: readonly InstallRef[],
): Promise<Fault[]> {
  const report = await backups.places();
  const { current, configured, refused, waiting, former, unseen = [] } = report;
  const faults: Fault[] = unseen.map((place) => ({
    message: unseenPlaceSentence(report, place),
    repair: null,
    remedy: `See what the host reaches: homeport host backups show`,
  }));
  if (refused !== null) {
    return [
      ...faults,
      {
        message: refusedPlaceSentence(current, refused),
        repair: null,
        remedy: `To go back, set HOMEPORT_BACKUP_REPOSITORY to ${current} again.`,
      },
    ];
  }
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
  if (![current, ...former].includes(layout.backups)) {
    const ids = new Set(expected.map(({ id }) => id));
    const held = await countSnapshots({ address: layout.backups, credentials: null }, (id) => ids.has(id));
    if (held.backups > 0) {
      faults.push({
        message: `${countedBackups(held)} ${held.backups === 1 ? 'is' : 'are'} in ${layout.backups}, but the backups in use are in ${current}.`,
        repair: null,
        remedy: `Bring them along: homeport host backups move --from ${layout.backups}`,
      });
    }
  }
  return faults;
}
