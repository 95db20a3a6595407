import type { Database } from '../database/database.ts';
import { type Clock, timestamp as now } from '../lib/clock.ts';
import { publicRoute, type Route } from './route.ts';
import { Type, timestamp } from './schema.ts';

const statusSchema = Type.Object({
  success: Type.Boolean(),
  created_on: timestamp('the time of the request'),
});

export function serviceStatusRoutes(database: Pick<Database, 'ping'>, clock: Clock): Route[] {
  return [
    publicRoute({
      method: 'GET',
      path: '/status',
      operationId: 'status',
      summary: 'Whether the service works; 503 when its database does not answer',
      tag: 'Service',
      errors: [429, 503],
      success: 200,
      response: statusSchema,
      async handle() {
        await database.ping();
        return { success: true, created_on: now(clock) };
      },
    }),
  ];
}
