import type { Database } from '../database/database.ts';
import { type Clock, timestamp as now } from '../lib/clock.ts';
import { publicRoute, type Route } from './route.ts';
import { component, Type, timestamp } from './schema.ts';

const statusSchema = component(
  'Status',
  Type.Object({ success: Type.Boolean(), created_on: timestamp('the time of the request') }),
  { success: true, created_on: '2026-01-31T09:30:00.000Z' },
);

export function serviceStatusRoutes(database: Pick<Database, 'ping'>, clock: Clock): Route[] {
  return [
    publicRoute({
      method: 'GET',
      path: '/status',
      operationId: 'status',
      summary: 'Get the status of the service',
      description: 'Answers 503 if the database does not answer. Needs no authentication.',
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
