import { totalmem } from 'node:os';

/**
 * Bytes of memory that this process and its children may use: those of the machine, or the limit of their container or systemd unit.
 * `constrained` is what Node reads from the cgroup: 0 or a number beyond any machine without a limit.
 */
export function availableMemory(
  machine: number = totalmem(),
  constrained: number = process.constrainedMemory(),
): number {
  return constrained > 0 ? Math.min(machine, constrained) : machine;
}
