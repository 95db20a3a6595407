import Type from 'typebox';
import { Value } from 'typebox/value';
import { isLater } from './version-order.ts';

/** The name of the file that lists the releases, beside their folders. */
export const RELEASE_INDEX = 'releases.json';
/** Of the whole file. An entry has about 1 kB. */
export const MOST_INDEX_BYTES = 1024 * 1024;

/** A file of a release. */
const ReleaseFile = Type.Object({
  /** Without a folder, because it becomes the name of a downloaded file. */
  name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._+~-]{0,127}$' }),
  /** In bytes. */
  size: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

const Release = Type.Object({
  version: Type.String({ pattern: String.raw`^\d{1,5}\.\d{1,5}\.\d{1,5}$` }),
  /** The day of the release. */
  date: Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$` }),
  /** Whether it fixes a vulnerability, so that it should be installed soon. */
  security: Type.Boolean(),
  /** The address of its notes. Printable ASCII only: doctor writes it to a terminal. */
  notes: Type.String({ pattern: '^https?://[!#-;=?-~]{1,500}$' }),
  /** The folder of its files, relative to the index. Ends with a slash. */
  folder: Type.String({ pattern: '^[^\\s<>"?#]{0,500}/$' }),
  files: Type.Array(ReleaseFile, { maxItems: 100 }),
});

/** Further members are allowed everywhere, so that later programs can add some. */
const ReleaseIndex = Type.Object({ releases: Type.Array(Release, { maxItems: 2000 }) });

/** A release with its files. */
export type Release = Type.Static<typeof Release>;
export type ReleaseFile = Type.Static<typeof ReleaseFile>;
/** All releases, newest first. */
export type ReleaseIndex = Type.Static<typeof ReleaseIndex>;

/** Reads the text of an index. Throws an Error with the first fault. */
export function parseReleaseIndex(text: string): ReleaseIndex {
  if (text.length > MOST_INDEX_BYTES) throw new Error('the list of releases is larger than 1 MiB');
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch {
    throw new Error('the list of releases is no JSON');
  }
  if (!Value.Check(ReleaseIndex, index)) {
    const [fault] = Value.Errors(ReleaseIndex, index);
    throw new Error(
      `the list of releases is wrong at ${fault?.instancePath || 'its top'}: ${fault?.message}`,
    );
  }
  return { releases: newestFirst(index.releases) };
}

/** The text of an index with a release, in place of a former one of that version. `text`: the former index; null for the first. */
export function withRelease(text: string | null, release: Release): string {
  const former = text === null ? [] : parseReleaseIndex(text).releases;
  const releases = newestFirst([release, ...former.filter(({ version }) => version !== release.version)]);
  const written = `${JSON.stringify({ releases }, null, 2)}\n`;
  parseReleaseIndex(written);
  return written;
}

/** The releases after a version, newest first. The version may be one of development, with its commit. */
export function releasesAfter({ releases }: ReleaseIndex, version: string): Release[] {
  return releases.filter((release) => isLater(release.version, version));
}

/** Where a file of a release is. `index`: the address of the index. */
export function addressOfFile(index: string, { folder }: Release, { name }: ReleaseFile): string {
  return new URL(encodeURIComponent(name), new URL(folder, index)).href;
}

const newestFirst = (releases: readonly Release[]) =>
  releases.toSorted((a, b) => (a.version === b.version ? 0 : isLater(a.version, b.version) ? -1 : 1));
