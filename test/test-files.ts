/** Folders with tests. */
const FOLDERS = ['src', 'test', 'web', 'packages'];

/** The suffixes of the tests of each project: those that always run, and those of the mode "long" (docs/decisions/tests.md). */
const SUFFIXES = {
  sqlite: { quick: ['test'], long: ['long-test'] },
  postgres: {
    quick: ['both.test', 'postgres-test'],
    long: ['long-both.test', 'both.long-test', 'long-postgres-test'],
  },
  browser: { quick: ['browser-test'], long: ['long-browser-test'] },
  host: { quick: ['host-test'], long: ['long-host-test'] },
};

export type Project = keyof typeof SUFFIXES;

export const PROJECTS: readonly Project[] = ['sqlite', 'postgres', 'browser', 'host'];

/** The test files of a project, as patterns. */
export function filesOf(project: Project, isLong: boolean): string[] {
  const { quick, long } = SUFFIXES[project];
  return [...quick, ...(isLong ? long : [])].map((suffix) => `{${FOLDERS.join(',')}}/**/*.${suffix}.ts`);
}
