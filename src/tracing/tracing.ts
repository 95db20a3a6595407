import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { QueryTrace } from '../database/query-trace.ts';
import type { TraceCall } from '../hosting/remote/client.ts';
import type { TraceCommand } from '../hosting/remote/server.ts';
import type { Clock } from '../lib/clock.ts';
import type { Randomness } from '../lib/ids.ts';
import { parseTraceparent, type TraceContext, traceparentOf } from '../lib/trace-context.ts';
import { createExporter, type ExporterParts } from './exporter.ts';
import { type Attributes, type EndedSpan, otlpRequest } from './otlp.ts';
import { createSampler } from './sampler.ts';
import { tracedHost } from './traced-host.ts';
import { watchPrograms } from './traced-programs.ts';
import { createQueryTrace } from './traced-queries.ts';

/** Traces of this process. Absent if traces are off, and then nothing of this folder is loaded. */
export interface Tracing {
  /** Begins the span of a request. `traceparent` comes from trusted callers only. */
  request(arrived: { id: string; traceparent: unknown }): RequestSpan;
  /** Runs an attempt of a job within a span. */
  attempt<Outcome extends { is: string }>(job: TracedJob, work: () => Promise<Outcome>): Promise<Outcome>;
  /** Calls a host within a span, if a request or a job does so. `work` gets the headers for the host. */
  callHost: TraceCall;
  /** On a host: carries out a command within a span, if the control plane sent its trace. */
  command: TraceCommand;
  /** A host in this process, whose commands are calls. */
  ofHost<Host extends object>(host: Host, name: string): Host;
  /** Spans of the statements that requests and jobs send to the database. */
  ofDatabase(system: 'sqlite' | 'postgresql'): QueryTrace;
  /** The `traceparent` of what a recent request of this process causes. */
  traceparentOf(requestId: string): string | null;
  stop(): Promise<void>;
}

export interface RequestSpan {
  /** Runs what answers the request. */
  run(answer: () => void): void;
  /** Ends the span. Null: it is not recorded. */
  end(answered: AnsweredRequest | null): void;
}

interface AnsweredRequest {
  method: string;
  scheme: string;
  /** The declared path; undefined for an unknown one. Never the path itself, which can contain tokens. */
  route: string | undefined;
  status: number;
}

export interface TracedJob {
  id: string;
  kind: string;
  attempt: number;
  requestId: string | null;
  /** From the request that queued it. */
  traceparent: string | null;
}

export interface TracingParts {
  url: string;
  config: Pick<
    Config,
    'otlpHeaders' | 'otlpServiceName' | 'otlpResource' | 'tracesSampler' | 'tracesSamplerRatio'
  >;
  version: string;
  /** What follows the name of the service, because the settings of a machine are for all its services. */
  suffix?: string;
  clock: Clock;
  random: Randomness;
  log: Logger;
  times?: ExporterParts['times'];
}

/** Requests whose jobs find their trace. */
const RECENT_REQUESTS = 10_000;
/** The methods that the conventions of OpenTelemetry name. */
const KNOWN_METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE)$/;
/** Outcomes of attempts that are failures. */
const FAILED: readonly string[] = ['failed', 'unstoppable', 'lost'];

interface OpenSpan {
  readonly context: TraceContext;
  /** False once it has ended. Timers that its code set may outlive it, and their work does not belong to it. */
  isOpen: boolean;
}

export function createTracing(parts: TracingParts): Tracing {
  const { url, config, version, suffix = '', clock, random, log } = parts;
  const named = config.otlpServiceName ?? config.otlpResource?.['service.name'] ?? 'homeport';
  const resource: Attributes = {
    'service.namespace': 'homeport',
    ...config.otlpResource,
    'service.name': named.endsWith(suffix) ? named : `${named}${suffix}`,
    'service.version': version,
    'service.instance.id': random.uuid(),
  };
  const exporter = createExporter({
    url,
    headers: config.otlpHeaders ?? {},
    encode: (spans) => otlpRequest(resource, version, spans),
    log,
    ...(parts.times === undefined ? {} : { times: parts.times }),
  });
  const isSampled = createSampler(config.tracesSampler, config.tracesSamplerRatio);
  const current = new AsyncLocalStorage<OpenSpan>();
  const recent = new LRUCache<string, TraceContext>({ max: RECENT_REQUESTS });

  /** Begins a span. Without a parent, it begins a trace, which has the id of the request if that is known. */
  function begin(kind: EndedSpan['kind'], parent: TraceContext | undefined, requestId?: string) {
    const traceId = parent?.traceId ?? (requestId ?? random.uuid()).replaceAll('-', '');
    const spanId = spanIdIn(random.uuid());
    const context = { traceId, spanId, isSampled: isSampled(traceId, parent) };
    const open: OpenSpan = { context, isOpen: true };
    const startedAt = clock.now().getTime();
    const begun = performance.now();
    const end = (name: string, attributes: Attributes, isError: boolean) => {
      if (!open.isOpen) return;
      open.isOpen = false;
      if (!context.isSampled) return;
      const endedAt = startedAt + performance.now() - begun;
      exporter.add({
        context,
        parentSpanId: parent?.spanId,
        name,
        kind,
        startedAt,
        endedAt,
        attributes,
        isError,
      });
    };
    return { open, context, end };
  }

  /** The span of the work in progress that others belong to. */
  function openSpan(): OpenSpan | undefined {
    const span = current.getStore();
    return span?.isOpen ? span : undefined;
  }

  const callHost: TraceCall = async ({ command, host }, work) => {
    const parent = openSpan();
    if (parent === undefined) return work({});
    const { open, context, end } = begin('client', parent.context);
    const attributes = { 'homeport.command': command, 'homeport.host': host };
    try {
      const result = await current.run(open, work, { traceparent: traceparentOf(context) });
      end(`host ${command}`, attributes, false);
      return result;
    } catch (error) {
      end(`host ${command}`, { ...attributes, 'error.type': typeOf(error) }, true);
      throw error;
    }
  };

  const command: TraceCommand = ({ command, traceparent }, work) => {
    const parent = parseTraceparent(traceparent);
    if (parent === undefined) return work();
    const { open, end } = begin('server', parent);
    const attributes = { 'homeport.command': command };
    const running = current.run(open, work);
    running.then(
      () => end(`host ${command}`, attributes, false),
      (error: unknown) => end(`host ${command}`, { ...attributes, 'error.type': typeOf(error) }, true),
    );
    return running;
  };

  const forgetPrograms = watchPrograms((program) => {
    const parent = openSpan();
    if (!parent?.context.isSampled) return undefined;
    const { end } = begin('internal', parent.context);
    return (error) =>
      end(
        `run ${program}`,
        {
          'process.executable.name': program,
          'error.type': error === undefined ? undefined : typeOf(error),
        },
        error !== undefined,
      );
  });

  return {
    request({ id, traceparent }) {
      const { open, context, end } = begin('server', parseTraceparent(traceparent), id);
      recent.set(id, context);
      return {
        run: (answer) => current.run(open, answer),
        end(answered) {
          if (answered === null) {
            open.isOpen = false;
            return;
          }
          const { method, scheme, route, status } = answered;
          const isKnown = KNOWN_METHOD.test(method);
          const name = isKnown ? method : 'HTTP';
          end(
            route === undefined ? name : `${name} ${route}`,
            {
              'http.request.method': isKnown ? method : '_OTHER',
              'http.route': route,
              'http.response.status_code': status,
              'url.scheme': scheme,
              'error.type': status >= 500 ? String(status) : undefined,
              'homeport.request_id': id,
            },
            status >= 500,
          );
        },
      };
    },

    async attempt(job, work) {
      const { open, context, end } = begin('consumer', parseTraceparent(job.traceparent));
      // Another process answered the request. Jobs that this one queues belong to the same trace.
      if (job.requestId !== null && !recent.has(job.requestId)) recent.set(job.requestId, context);
      const attributes = {
        'homeport.job.kind': job.kind,
        'homeport.job.id': job.id,
        'homeport.job.attempt': job.attempt,
        'homeport.request_id': job.requestId ?? undefined,
      };
      try {
        const outcome = await current.run(open, work);
        const error: unknown = Reflect.get(outcome, 'error');
        const isError = FAILED.includes(outcome.is);
        end(
          `job ${job.kind}`,
          {
            ...attributes,
            'homeport.job.outcome': outcome.is,
            'error.type': isError ? typeOf(error ?? outcome.is) : undefined,
          },
          isError,
        );
        return outcome;
      } catch (error) {
        end(`job ${job.kind}`, { ...attributes, 'error.type': typeOf(error) }, true);
        throw error;
      }
    },

    callHost,
    command,
    ofHost: (host, name) => tracedHost(host, name, callHost),
    ofDatabase: (system) =>
      createQueryTrace(system, () => {
        const parent = openSpan();
        if (!parent?.context.isSampled) return undefined;
        const { open, end } = begin('client', parent.context);
        return {
          run: (work) => current.run(open, work),
          end: (name, attributes, error) =>
            end(name, { ...attributes, ...errorOf(error) }, error !== undefined),
        };
      }),
    traceparentOf(requestId) {
      const context = recent.get(requestId);
      return context === undefined ? null : traceparentOf(context);
    },
    stop() {
      forgetPrograms();
      return exporter.stop();
    },
  };
}

/** Sixteen random digits of a UUID, none of which is its version. Node makes many of them with one system call, which costs more than a span. */
const spanIdIn = (uuid: string): string => `${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(-4)}`;

const errorOf = (error: unknown): Attributes => (error === undefined ? {} : { 'error.type': typeOf(error) });

/** The class of an error. Its message can contain secrets. */
const typeOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));
