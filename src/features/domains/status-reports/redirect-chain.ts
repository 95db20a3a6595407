import type { Journey } from '../../../network/probe/visitor.ts';

/** Every URL that visitors are sent to, in order; of a circle, its beginning again at the end. */
export function redirectChain({ urls, last, failure }: Journey): string[] {
  const again = failure?.problem === 'redirect_loop' ? last?.location : null;
  return again ? [...urls, again.href] : urls;
}
