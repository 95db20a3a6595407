import { type Route, route } from '../../api/route.ts';
import { Type } from '../../api/schema.ts';
import type { UsageService } from './service.ts';

const accountDaySchema = Type.Object({
  date: Type.String({ format: 'date', description: 'the UTC day' }),
  visit_count: Type.String({ description: 'decimal digits' }),
  network_total_bytes: Type.String({ description: 'decimal digits' }),
});

/** Portal endpoints about the usage of an account. The public API has its sums, and the days of each install. */
export function usagePortalRoutes(usage: UsageService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/accounts/:account_id/usage/days',
      operationId: 'listAccountUsageDays',
      summary: 'The traffic of an account in the last 30 days; days without requests are left out',
      tag: 'Usage',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({ results: Type.Array(accountDaySchema) }),
      handle: async ({ caller, id }) => ({ results: await usage.daysOfAccount(caller, id('account_id')) }),
    }),
  ];
}
