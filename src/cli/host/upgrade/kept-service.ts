import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createSystemctl } from '../../../hosting/linux/daemons/systemctl.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';
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

/** Starts the control plane from the kept files, so that visitors do not wait until dpkg has replaced the installed ones. */
export async function serveKept(tree: string): Promise<void> {
  await mkdir(dirname(DROP_IN), { recursive: true, mode: 0o755 });
  await writeFile(DROP_IN, keptServiceDropIn(tree), { mode: 0o644 });
  await createSystemctl('systemctl').reload();
  await createSystemctl('systemctl').beginStart(CONTROL_PLANE_UNIT);
}

/** Lets the next start of the control plane use the installed files again. */
export async function serveInstalled(): Promise<void> {
  if ((await ifThere(rm(DROP_IN))) !== null) await createSystemctl('systemctl').reload();
}
