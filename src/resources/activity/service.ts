import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import type { PageOf, PageRequest } from '../../page.ts';
import type { Platform } from '../../platform.ts';
import type { activitySchema } from './schema.ts';

export type ActivityView = Static<typeof activitySchema>;

export interface ActivityService {
  /** The latest first: all of an account, or a partial user's own. Throws NotFound. */
  list(caller: Caller, accountId: string, page: PageRequest): Promise<PageOf<ActivityView>>;
  /** The same as CSV (RFC 4180), in parts. Throws NotFound before the first part. */
  exportCsv(caller: Caller, accountId: string): Promise<AsyncIterable<string>>;
}

const unbuilt = async (): Promise<never> => {
  throw new Error('being built');
};

export function createActivityService(_platform: Platform): ActivityService {
  return { list: unbuilt, exportCsv: unbuilt };
}
