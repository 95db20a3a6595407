import type { FastifyInstance } from 'fastify';
import { HEALTH_PATHS, healthAt } from './health.ts';
import type { Readiness } from './readiness.ts';

/** `/healthz` and `/readyz` for balancers in front of the API: without a credential and a rate limit, because they tell nothing else. */
export function healthPages(readiness: Readiness): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    for (const path of HEALTH_PATHS) {
      app.get(path, async (_request, reply) => {
        const { status, text } = await healthAt(path, readiness);
        return reply
          .code(status)
          .header('cache-control', 'no-store')
          .type('text/plain; charset=utf-8')
          .send(text);
      });
    }
  };
}
