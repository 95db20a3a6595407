import { readdirSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { filesOf, PROJECTS, type Project } from './test-files.ts';

const ROOT = join(import.meta.dirname, '..');
const projectsOf = (path: string, isLong: boolean) =>
  PROJECTS.filter((project) => filesOf(project, isLong).some((pattern) => matchesGlob(path, pattern)));

/** Folders of others, and of what is built. */
const LEFT_OUT = /(^|\/)(node_modules|dist|\.git)(\/|$)/;

it('every file that is named as a test runs in the tests of a project', () => {
  const named = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !LEFT_OUT.test(entry.name))
    .flatMap(({ name }) =>
      readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' }).map((path) => join(name, path)),
    )
    .filter((path) => /[.-]\w*(test|spec)s?\.[cm]?[jt]sx?$/.test(path) && !LEFT_OUT.test(path));
  expect(named).toContain('test/test-files.test.ts');
  expect(named.filter((path) => projectsOf(path, true).length === 0)).toEqual([]);
});

it.each<[suffix: string, quick: Project[], long: Project[]]>([
  ['test', ['sqlite'], ['sqlite']],
  ['both.test', ['sqlite', 'postgres'], ['sqlite', 'postgres']],
  ['long-both.test', ['sqlite'], ['sqlite', 'postgres']],
  ['postgres-test', ['postgres'], ['postgres']],
  ['browser-test', ['browser'], ['browser']],
  ['host-test', ['host'], ['host']],
  ['long-test', [], ['sqlite']],
  ['both.long-test', [], ['sqlite', 'postgres']],
  ['long-postgres-test', [], ['postgres']],
  ['long-browser-test', [], ['browser']],
  ['long-host-test', [], ['host']],
])('a file .%s.ts runs where the documents say', (suffix, quick, long) => {
  const path = `src/jobs/job.${suffix}.ts`;
  expect([projectsOf(path, false), projectsOf(path, true)]).toEqual([quick, long]);
});
