import { hasCode } from '../../lib/error-code.ts';
import { descriptorLimit } from '../../network/connections/descriptor-limit.ts';
import { socketLimits } from '../../network/connections/socket-limits.ts';
import { type Finding, ok, warning } from './finding.ts';

/** From here on `socketLimits` gives each server the most that it makes use of. */
const ENOUGH = 32_768;
const LOW = 4_096;
const CHECK = 'open files';

/**
 * Checks that the server's processes may open enough files and connections. `pids`: the processes on this machine. If
 * there is none, this process stands for the server that the same user would start.
 */
export function checkDescriptors(pids: number[]): Finding {
  const limits = pids.flatMap(limitOf);
  const fewest = Math.min(...(limits.length === 0 ? [descriptorLimit()] : limits));
  const { api, edge, ssh } = socketLimits(fewest);
  const message = `A server may open ${fewest} files, so it takes ${api.total} connections to the API, ${edge.total} to websites and ${ssh.total} by SFTP.`;
  if (fewest >= LOW) return ok(CHECK, message);
  return warning(
    CHECK,
    message,
    `Raise the limit to ${ENOUGH} or more: LimitNOFILE= in the systemd unit, "ulimit -n" in a shell, --ulimit nofile= for a container. Then restart the server.`,
  );
}

/** Empty for a process that has ended. */
function limitOf(pid: number): number[] {
  try {
    return [descriptorLimit(pid)];
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return [];
    throw error;
  }
}
