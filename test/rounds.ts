/** Whether this is `npm run test:long` or `test:host:long`, where tests that repeat themselves do so more often. */
export const isLong = process.env.HOMEPORT_TEST_LONG === '1';

/** How often a test repeats itself, or with what: a few times, or many times in the long tests. */
export const rounds = <Rounds>(few: Rounds, many: Rounds): Rounds => (isLong ? many : few);

type Register = (name: string, body: () => void | Promise<void>) => void;

/** Registers a test in `npm run test:long` only, as `onlyOn` does for one database. */
export const onlyInLong = (register: Register): Register => (isLong ? register : () => {});

/** The cases of a table of tests: those whose first column is named here, or all in the long tests. Throws if one is not in the table. */
export function cases<Case extends readonly [string, ...unknown[]]>(
  few: readonly string[],
  all: readonly Case[],
): readonly Case[] {
  const lacking = few.filter((name) => !all.some(([each]) => each === name));
  if (lacking.length > 0) throw new Error(`The table has no case ${lacking.join(', ')}.`);
  return isLong ? all : all.filter(([name]) => few.includes(name));
}

/** The steps that a test interrupts: a few that differ, or all in the long tests. */
export const steps = <const Step extends string>(
  few: readonly Step[],
  all: readonly Step[],
): readonly Step[] => (isLong ? all : few);
