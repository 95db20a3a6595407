import type { Registry } from 'prom-client';
import { type HostFigures, STATUS_CLASSES } from '../hosting/contract/figures.ts';

type ShowHosts = (
  measured: ReadonlyMap<string, HostFigures>,
  hosts: readonly { id: string; name: string }[],
) => void;

/** Adds what hosts measure about themselves. The labels name hosts, never websites, so that series do not grow with customers. */
export async function createHostExposition(registry: Registry): Promise<ShowHosts> {
  const { Counter, Gauge } = await import('prom-client');
  const registers = [registry];
  const labelNames = ['host'] as const;
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });

  const answers = new Counter({
    name: 'homeport_edge_requests_total',
    help: 'Answers to visitors, by host and class of the status. none: the visitor left before an answer',
    labelNames: ['host', 'status'],
    registers,
  });
  const bytes = counter('homeport_edge_sent_bytes_total', 'Bytes sent to visitors, before TLS');
  const asked = counter('homeport_edge_cache_requests_total', 'Requests that asked the page cache');
  const hits = counter('homeport_edge_cache_hits_total', 'Requests that the page cache answered');
  const running = gauge('homeport_php_websites_running', 'Websites whose PHP runs');
  const memory = gauge(
    'homeport_php_memory_bytes',
    'Memory of the PHP of all websites. The embedded host: reserved for the running ones. A Linux host: used, with file cache',
  );
  const limit = gauge('homeport_php_memory_limit_bytes', 'The most memory of the PHP of all websites');
  const restarts = counter(
    'homeport_php_restarts_total',
    'Ends of the PHP of a website that were not requested, after which it starts again',
  );
  const waiting = gauge('homeport_php_requests_waiting', 'Requests that wait for PHP');
  const late = gauge(
    'homeport_wordpress_cron_late',
    'Websites whose scheduled tasks (WP-Cron) are more than ten minutes late',
  );
  const gauges = [running, memory, limit, waiting, late];
  const counters = [answers, bytes, asked, hits, restarts];

  return (measured, hosts) => {
    const names = new Map(hosts.map(({ id, name }) => [id, name]));
    // Hosts count from the start of their own processes, and one that does not answer has no series.
    for (const metric of [...gauges, ...counters]) metric.reset();
    for (const [id, { edge, php, lateCron }] of measured) {
      const labels = { host: names.get(id) ?? id };
      for (const status of STATUS_CLASSES) answers.inc({ ...labels, status }, edge.answers[status]);
      bytes.inc(labels, edge.bytes);
      asked.inc(labels, edge.cacheRequests);
      hits.inc(labels, edge.cacheHits);
      late.set(labels, lateCron);
      if (php === null) continue;
      running.set(labels, php.running);
      restarts.inc(labels, php.restarts);
      if (php.memoryBytes !== null) memory.set(labels, php.memoryBytes);
      if (php.memoryLimitBytes !== null) limit.set(labels, php.memoryLimitBytes);
      if (php.waiting !== null) waiting.set(labels, php.waiting);
    }
  };
}
