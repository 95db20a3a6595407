import Type from 'typebox';
import { Value } from 'typebox/value';
import { MINUTE_MS } from '../../lib/durations.ts';
import { branchOf, compareVersions } from '../policy/wordpress-version.ts';

const TIMEOUT_MS = MINUTE_MS;
const MOST_BYTES = 1024 * 1024;
const RELEASE = /^\d{1,3}(\.\d{1,3}){1,2}$/;

/** Of the answer of api.wordpress.org/core/version-check/1.7/: the newest release, and the newest of each maintained branch. */
const Answer = Type.Object({ offers: Type.Array(Type.Object({ version: Type.String() })) });

/** Asks for the newest release of each branch. Rejects if the address does not answer with releases. */
export async function listReleases(url: string, fetchUrl: typeof fetch = fetch): Promise<string[]> {
  const response = await fetchUrl(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} answers ${response.status}`);
  }
  const text = await response.text();
  const answer: unknown = text.length > MOST_BYTES ? null : JSON.parse(text);
  if (!Value.Check(Answer, answer)) throw new Error(`${url} lists no releases`);
  return [...new Set(answer.offers.map(({ version }) => version))].filter((version) => RELEASE.test(version));
}

/** The newest releases of the branches in use that this host lacks. */
export function missingReleases(
  used: readonly string[],
  held: readonly string[],
  released: readonly string[],
): string[] {
  return [...new Set(used.map(branchOf))].flatMap((branch) => {
    const [newest] = released
      .filter((version) => branchOf(version) === branch)
      .sort((a, b) => compareVersions(b, a));
    const isNew =
      newest !== undefined &&
      !held.some((version) => branchOf(version) === branch && compareVersions(version, newest) >= 0);
    return isNew ? [newest] : [];
  });
}
