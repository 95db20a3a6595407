import { partsOf } from '../../src/lib/releases/version-order.ts';

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
