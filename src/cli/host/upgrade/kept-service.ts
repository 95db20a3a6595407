import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createSystemctl, type Systemctl } from '../../../hosting/linux/daemons/systemctl.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';
import { replaceAtomically } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PROGRAM_FOLDER } from '../../../lib/own-command.ts';

/** Gone after a restart of the machine. The last in the order of names, so that it applies after the operator's. */
const DROP_IN = `/run/systemd/system/${CONTROL_PLANE_UNIT}.d/zz-homeport-upgrade.conf`;

/**
 * A drop-in that mounts the program of the folder `tree` at the usual path, for the service alone, whatever dpkg does there meanwhile:
 * systemd.exec(5). If systemd cannot make mounts, as in some containers, the service starts once dpkg has finished.
 */
export const keptServiceDropIn = (tree: string): string =>
  `# "homeport upgrade" removes this.\n[Service]\nBindReadOnlyPaths=${join(tree, PROGRAM_FOLDER)}:${PROGRAM_FOLDER}\nExecStartPre=\n`;

/** Where the drop-in is. Tests use their own. */
interface Place {
  dropIn: string;
  systemctl: Systemctl;
}

const presentPlace = (): Place => ({ dropIn: DROP_IN, systemctl: createSystemctl('systemctl') });

/**
 * Starts the control plane from the kept files, so that visitors do not wait until dpkg has replaced the installed ones. A fault, such as no room
 * in `/run`, is only reported: the return must go on.
 */
export async function serveKept(tree: string, { dropIn, systemctl }: Place = presentPlace()): Promise<void> {
  try {
    await mkdir(dirname(dropIn), { recursive: true, mode: 0o755 });
    await replaceAtomically(dropIn, keptServiceDropIn(tree), { sync: false, mode: 0o644 });
    await systemctl.reload();
    await systemctl.beginStart(CONTROL_PLANE_UNIT);
  } catch (error) {
    process.stdout.write(`==> Visitors wait until dpkg has finished: ${messageOf(error)}\n`);
  }
}

/** Lets the next start of the control plane use the installed files again. Returns whether it would have used the kept ones. */
export async function serveInstalled({ dropIn, systemctl }: Place = presentPlace()): Promise<boolean> {
  if ((await ifThere(rm(dropIn))) === null) return false;
  await systemctl.reload();
  return true;
}
