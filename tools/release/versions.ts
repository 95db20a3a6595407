const VERSION = /^(\d+)\.(\d+)\.(\d+)(-dev)?$/;

/** The release that a version leads to: `0.4.0` for `0.4.0-dev`. Throws an Error for a version that is released. */
export function releaseAfter(version: string): string {
  const [, , , , development] = partsOf(version);
  if (development === undefined) {
    throw new Error(
      `package.json names ${version}, which is a release. Between releases it ends with "-dev".`,
    );
  }
  return version.slice(0, -development.length);
}

/** The version of the work after a release: `0.5.0-dev` for `0.4.0`. */
export function developmentAfter(release: string): string {
  const [, major, minor] = partsOf(release);
  return `${major}.${Number(minor) + 1}.0-dev`;
}

/** Whether a version comes after another. One of development comes before its release. */
export function isLater(version: string, than: string): boolean {
  const [first, second] = [partsOf(version), partsOf(than)];
  for (const index of [1, 2, 3]) {
    const difference = Number(first[index]) - Number(second[index]);
    if (difference !== 0) return difference > 0;
  }
  return first[4] === undefined && second[4] !== undefined;
}

function partsOf(version: string): RegExpExecArray {
  const parts = VERSION.exec(version);
  if (parts === null) throw new Error(`"${version}" is no version such as 0.4.0 or 0.4.0-dev.`);
  return parts;
}
