/**
 * Milliseconds of processor time that `work` takes, whatever else the machine does meanwhile: tells what takes the square of
 * its input's length from what does not.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
