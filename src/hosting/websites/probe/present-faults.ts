import { cleanReason } from '../../wordpress/website-text.ts';
import { NOT_ASKED, type Observation, observe } from './observation.ts';
import type { ProbeSite } from './probing.ts';
import { faultOf } from './visitor-probe.ts';

/**
 * The faults of a website that replaced another one, on one line; null if it works. A comparison with the former website would say
 * nothing. Due tasks are not run and no comment is made, because the website has just come.
 */
export async function presentWarning(site: ProbeSite): Promise<string | null> {
  const [first, ...others] = presentFaults(await observe(site, [], { runs: false }));
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return cleanReason(`${first}${more}`);
}

/** The faults of a website, most important first, without a comparison. */
export function presentFaults({ pages, missing, state }: Observation): string[] {
  const [path] = missing;
  const many = missing.length === 1 ? 'a script or stylesheet' : `${missing.length} scripts and stylesheets`;
  return [
    ...(state === null ? ['WordPress does not start'] : []),
    ...(state?.unwritable ? [`the database cannot be written: ${state.unwritable}`] : []),
    ...pages.flatMap((page) => {
      const fault = page.failure === NOT_ASKED ? null : faultOf(page);
      if (fault === null) return [];
      return [page.error === null ? fault : `${fault}: ${page.error}`];
    }),
    ...(path === undefined ? [] : [`${many} of its pages cannot be loaded, such as ${path}`]),
  ];
}
