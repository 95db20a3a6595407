import type { Readiness } from './readiness.ts';

/** The paths at which balancers and orchestrators ask, by https://kubernetes.io/docs/reference/using-api/health-checks/. */
export const HEALTH_PATHS = ['/healthz', '/readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

/** An answer of plain text. */
export interface HealthAnswer {
  status: 200 | 503;
  text: string;
}

/** `/healthz`: the process answers. `/readyz`: it can do what it is asked, else 503 with one sentence. */
export async function healthAt(path: HealthPath, readiness: Readiness): Promise<HealthAnswer> {
  const obstacle = path === '/healthz' ? null : await readiness.obstacle();
  return obstacle === null ? { status: 200, text: 'ok\n' } : { status: 503, text: `${obstacle}\n` };
}
