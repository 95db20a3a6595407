const HEADING = /^## /m;
const UNRELEASED = '## [Unreleased]';

/** The changelog with its unreleased changes under the heading of a version. Throws an Error without such changes. */
export function releaseChanges(
  changelog: string,
  { version, date }: { version: string; date: string },
): string {
  if (sectionOf(changelog, 'Unreleased').trim() === '') {
    throw new Error('CHANGELOG.md has no unreleased changes, so there is nothing to release.');
  }
  return changelog.replace(UNRELEASED, () => `${UNRELEASED}\n\n## [${version}] - ${date}`);
}

/** The text below the heading of a version. Throws an Error if the changelog has no such heading. */
export function sectionOf(changelog: string, version: string): string {
  const begin = changelog.indexOf(`\n## [${version}]`);
  if (begin === -1) throw new Error(`CHANGELOG.md has no heading for ${version}.`);
  const section = changelog.slice(changelog.indexOf('\n', begin + 1) + 1);
  const end = section.search(HEADING);
  return end === -1 ? section : section.slice(0, end);
}
