import Type from 'typebox';
import { Value } from 'typebox/value';
import { PermanentHostError } from '../../contract/errors.ts';
import { type Observation, observationSchema } from './observation.ts';
import { seenPageSchema } from './visited-page.ts';
import { websiteStateSchema } from './website-state.ts';

const { name, path, status, failure, length, parts, errors } = seenPageSchema.properties;
const { siteurl, home, template, stylesheet, plugins } = websiteStateSchema.properties;

/** An observation before pages of wp-admin were requested. It has no times and no numbers of rows. */
const earlierSchema = Type.Object({
  pages: Type.Array(Type.Object({ name, path, status, failure, length, parts, errors })),
  fatals: Type.Array(Type.String()),
  settings: Type.Union([Type.Object({ siteurl, home, template, stylesheet, plugins }), Type.Null()]),
});
/** No answer is slower than that. */
const UNMEASURED_MS = 3_600_000;

/**
 * Reads an observation from the record of a change, which an earlier version of this program may have written. Throws a
 * PermanentHostError if no known version wrote it.
 */
export function recordedObservation(recorded: unknown): Observation {
  if (Value.Check(observationSchema, recorded)) return recorded;
  if (!Value.Check(earlierSchema, recorded)) {
    throw new PermanentHostError('The host can no longer read how the website looked before the change');
  }
  const { pages, fatals, settings } = recorded;
  return {
    pages: pages.map((page) => ({
      ...page,
      ...{ kind: 'visitor', error: null, milliseconds: UNMEASURED_MS },
    })),
    ...{ missing: [], cron: null, comment: null, fatals, milliseconds: UNMEASURED_MS },
    state: settings && {
      ...settings,
      ...{ hasPermalinks: false, post: null, page: null, upload: null },
      ...{ hasAdministrator: false, unwritable: null, rows: {} },
    },
  };
}
