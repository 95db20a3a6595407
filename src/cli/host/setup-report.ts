import { coloured } from '../terminal/output.ts';

/** The longest subject is "platform backup". */
const ABOUT_WIDTH = 17;

/** One line: what it is about, then what was done, or that nothing had to be. */
export async function tell(about: string, work: () => Promise<string | null>): Promise<void> {
  process.stdout.write(`  ${about.padEnd(ABOUT_WIDTH)}`);
  try {
    const done = await work();
    process.stdout.write(done === null ? 'as it should be\n' : `${coloured(done, 'green')}\n`);
  } catch (error) {
    process.stdout.write(`${coloured('failed', 'red')}\n`);
    throw error;
  }
}

/** A line only if the operator should change something. */
export async function warn(about: string, look: () => Promise<string | null>): Promise<void> {
  const fault = await look();
  if (fault !== null) process.stdout.write(`  ${about.padEnd(ABOUT_WIDTH)}${coloured(fault, 'yellow')}\n`);
}
