import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ifThere } from '../../../lib/if-there.ts';

/** A mounted file system, as mountinfo of proc(5) lists it. */
interface Mount {
  point: string;
  type: string;
  device: string;
}

/** The kernel option that each type needs. A kernel without it cannot even mount ext4 with the features. */
const NEEDED: Record<string, string> = { ext4: 'CONFIG_QFMT_V2', xfs: 'CONFIG_XFS_QUOTA' };

/** How to turn project quotas on for the file system of a folder of this machine; null if that is impossible. */
export async function machineQuotaAdvice(folder: string): Promise<string | null> {
  return quotaAdvice(await readFile('/proc/self/mountinfo', 'utf8'), await kernelConfig(), folder);
}

/** `kernel`: the configuration of the running kernel, null if unknown. Pure. */
export function quotaAdvice(mountinfo: string, kernel: string | null, folder: string): string | null {
  const mount = mountOf(mountinfo, folder);
  const needed = mount === null ? undefined : NEEDED[mount.type];
  if (mount === null || needed === undefined) return null;
  if (kernel !== null && !new RegExp(`^${needed}=[ym]$`, 'm').test(kernel)) return null;
  const condition = kernel === null ? ` if the kernel has ${needed}` : '';
  const { point, type, device } = mount;
  const enable = `tune2fs -O project,quota -Q prjquota ${device}`;
  if (type === 'ext4' && point === '/') return `run "${enable}" from a rescue system${condition}`;
  if (type === 'ext4')
    return `end everything that uses ${point}, and run "umount ${point} && ${enable} && mount ${point}"${condition}`;
  if (point === '/')
    return `add rootflags=prjquota to the command line of the kernel, and restart the machine${condition}`;
  return `add prjquota to the options of ${point} in /etc/fstab, end everything that uses it, and run "umount ${point} && mount ${point}"${condition}`;
}

/** Debian keeps it in `/boot`, others in the kernel itself. */
async function kernelConfig(): Promise<string | null> {
  const file = await ifThere(readFile(`/boot/config-${release()}`, 'utf8'));
  if (file !== null) return file;
  const packed = await ifThere(readFile('/proc/config.gz'));
  return packed === null ? null : (await promisify(gunzip)(packed)).toString();
}

/** The mount that a folder is on: the last one of those with the longest path. */
function mountOf(mountinfo: string, folder: string): Mount | null {
  let found: Mount | null = null;
  for (const line of mountinfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const point = unescaped(left.split(' ')[4] ?? '');
    const [type = '', device = ''] = right.split(' ');
    const isAround = point === '/' || folder === point || folder.startsWith(`${point}/`);
    if (point === '' || !isAround || point.length < (found?.point.length ?? 0)) continue;
    found = { point, type, device: unescaped(device) };
  }
  return found;
}

/** Spaces and tabs are octal. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
