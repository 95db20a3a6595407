import type { Registry } from 'prom-client';

/** An answered request of the API or the portal. */
export interface AnsweredRequest {
  method: string;
  /** The declared path with its parameters, so that there are as many as routes. */
  route: string;
  status: number;
  seconds: number;
}

/** An attempt of a job that ended. */
export interface EndedAttempt {
  kind: string;
  /** `done`, `failed`, `called off`, `interrupted`, `unstoppable` or `lost`. */
  outcome: string;
  seconds: number;
}

/** An operation that ended, as users see it. */
export interface EndedOperation {
  kind: string;
  /** `succeeded`, `failed` or `cancelled`. */
  status: string;
  /** From the request to the end. */
  seconds: number;
}

/** Counts and times of this process while it works. */
export interface Measurements {
  readonly registry: Registry;
  request(answered: AnsweredRequest): void;
  attempt(ended: EndedAttempt): void;
  operation(ended: EndedOperation): void;
}

const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];
const JOB_SECONDS = [0.1, 1, 10, 60, 600, 3600];
/** Anybody may send any method. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);

/** Loads prom-client, so only if metrics are served. */
export async function createMeasurements(): Promise<Measurements> {
  const { collectDefaultMetrics, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'homeport_http_request_duration_seconds',
    help: 'Time to answer requests of the API and the portal, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers: [registry],
  });
  const attempts = new Histogram({
    name: 'homeport_job_duration_seconds',
    help: 'Time of attempts of jobs, by kind and outcome',
    labelNames: ['kind', 'outcome'],
    buckets: JOB_SECONDS,
    registers: [registry],
  });
  const operations = new Histogram({
    name: 'homeport_operation_duration_seconds',
    help: 'Time of operations from the request to the end, by kind and status',
    labelNames: ['kind', 'status'],
    buckets: JOB_SECONDS,
    registers: [registry],
  });
  return {
    registry,
    request({ method, route, status, seconds }) {
      requests.observe({ method: METHODS.has(method) ? method : 'other', route, status }, seconds);
    },
    attempt({ kind, outcome, seconds }) {
      attempts.observe({ kind, outcome: outcome.replace(' ', '_') }, seconds);
    },
    operation({ kind, status, seconds }) {
      operations.observe({ kind, status }, seconds);
    },
  };
}
