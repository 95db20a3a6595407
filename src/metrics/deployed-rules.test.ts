import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { limiterFor } from '../../test/connections.ts';
import { onlyInLong } from '../../test/rounds.ts';
import { ALERT_CASES, ruleTests } from './alerts.fixture.ts';
import { createExposition } from './exposition.ts';
import { createMeasurements } from './measurements.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const ALERTS = join(DEPLOY, 'prometheus-alerts.yml');
const alerts = readFileSync(ALERTS, 'utf8');
const dashboard = readFileSync(join(DEPLOY, 'grafana-dashboard.json'), 'utf8');
const PROMTOOL = '/usr/bin/promtool';

const connections = { api: limiterFor('api'), edge: limiterFor('edge'), ssh: limiterFor('ssh') };

async function exposed(): Promise<string> {
  const measurements = await createMeasurements();
  measurements.request({ method: 'BREW', route: '/v1/installs', status: 200, seconds: 0.01 });
  measurements.attempt({ kind: 'apply_install', outcome: 'called off', seconds: 1 });
  measurements.operation({ kind: 'install.create', status: 'failed', seconds: 3 });
  const exposition = await createExposition(measurements, connections);
  return exposition.text({
    certificates: [],
    expiring: [{ days: 7, count: 0 }],
    nextExpiry: { LETS_ENCRYPT: null, THIRD_PARTY: null },
    failing: 0,
    backups: { oldest: '2026-11-28T00:00:00.000Z', without: 2 },
    recovery: [{ host: 'web1', oldest: '2026-11-28T00:00:00.000Z', late: 4 }],
    unrestorable: 0,
    lastRestoreCheck: null,
    platformBackup: { last: null, failures: 0 },
    installs: [{ status: 'active', installs: 3 }],
    outdated: 0,
    failedUpdates: 4,
    incidents: 0,
    hosts: [{ id: 'an-id', name: 'web1', isUp: false, seen: new Date(5_000) }],
    measured: new Map([
      [
        'an-id',
        {
          edge: {
            answers: { '2xx': 7, '3xx': 0, '4xx': 0, '5xx': 1, none: 0 },
            bytes: 9_000,
            cacheRequests: 6,
            cacheHits: 5,
          },
          php: { running: 2, memoryBytes: 1_000, memoryLimitBytes: 4_000, restarts: 1, waiting: 3 },
          lateCron: 1,
        },
      ],
    ]),
    jobs: [],
  });
}

it('asks in alerts and in the dashboard for metrics that exist', async () => {
  const text = await exposed();
  const names = new Set(
    [...`${alerts}${dashboard}`.matchAll(/\b(?:homeport|process)_[a-z_]+/g)].map(([name]) => name),
  );
  names.delete('homeport_');
  expect(names.size).toBeGreaterThan(25);
  const missing = [...names].filter((name) => !new RegExp(`^${name}[ {]`, 'm').test(text));
  expect(missing).toEqual([]);
  for (const line of [
    'homeport_http_request_duration_seconds_count{method="other",route="/v1/installs",status="200"} 1',
    'homeport_job_duration_seconds_count{kind="apply_install",outcome="called_off"} 1',
    'homeport_operation_duration_seconds_count{kind="install.create",status="failed"} 1',
    'homeport_host_up{host="web1"} 0',
    'homeport_host_seen_timestamp_seconds{host="web1"} 5',
    'homeport_edge_requests_total{host="web1",status="2xx"} 7',
    'homeport_php_requests_waiting{host="web1"} 3',
    'homeport_installs_without_recent_backup 2',
    'homeport_recovery_points_late{host="web1"} 4',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});

it('has queries in every panel', () => {
  const { panels }: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(dashboard);
  expect(panels.flatMap(({ targets }) => targets).every(({ expr }) => expr !== '')).toBe(true);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

it('has series for each alert that make it fire, and others that do not', () => {
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  expect(ALERT_CASES.map(({ alert }) => alert).toSorted()).toEqual(names.toSorted());
});

onlyInLong(it.skipIf(!existsSync(PROMTOOL)))(
  'keeps the conventions of Prometheus, and alerts fire',
  async () => {
    const promtool = (words: string[], input = '') => {
      const { status, stdout, stderr } = spawnSync(PROMTOOL, words, { input, encoding: 'utf8' });
      return { status, output: `${stdout}${stderr}` };
    };
    const rules = promtool(['check', 'rules', ALERTS]);
    expect(rules).toEqual({ status: 0, output: expect.stringContaining('18 rules found') });
    const own = (await exposed()).split('\n').filter((line) => / ?homeport_/.test(line));
    expect(promtool(['check', 'metrics'], `${own.join('\n')}\n`)).toEqual({ status: 0, output: '' });
    const folder = mkdtempSync(join(tmpdir(), 'homeport-rules-'));
    try {
      const file = join(folder, 'tests.yml');
      writeFileSync(file, ruleTests(ALERTS));
      const tested = promtool(['test', 'rules', file]);
      expect(tested.output).toContain('SUCCESS');
      expect(tested.status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
