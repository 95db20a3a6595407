/**
 * Milliseconds of processor time that `work` takes, independent of the machine's other load. Distinguishes quadratic from
 * linear algorithms.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
