import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { limiterFor } from '../../test/connections.ts';
import { createExposition } from './exposition.ts';
import { createMeasurements } from './measurements.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const alerts = readFileSync(join(DEPLOY, 'prometheus-alerts.yml'), 'utf8');
const dashboard = readFileSync(join(DEPLOY, 'grafana-dashboard.json'), 'utf8');
const PROMTOOL = '/usr/bin/promtool';

const connections = { api: limiterFor('api'), edge: limiterFor('edge'), ssh: limiterFor('ssh') };

async function exposed(): Promise<string> {
  const measurements = await createMeasurements();
  measurements.request({ method: 'BREW', route: '/v1/installs', status: 200, seconds: 0.01 });
  measurements.attempt({ kind: 'apply_install', outcome: 'called off', seconds: 1 });
  const exposition = await createExposition(measurements, connections);
  return exposition.text({
    certificates: [],
    expiring: [{ days: 7, count: 0 }],
    nextExpiry: null,
    failing: 0,
    withoutBackup: 0,
    unrestorable: 0,
    lastRestoreCheck: null,
    platformBackup: { last: null, failures: 0 },
    installs: [{ status: 'active', installs: 3 }],
    outdated: 0,
    incidents: 0,
    hosts: [{ name: 'web1', isUp: false }],
    jobs: [],
  });
}

it('asks in alerts and in the dashboard for metrics that exist', async () => {
  const text = await exposed();
  const names = new Set(
    [...`${alerts}${dashboard}`.matchAll(/\b(?:homeport|process)_[a-z_]+/g)].map(([name]) => name),
  );
  names.delete('homeport_');
  expect(names.size).toBeGreaterThan(15);
  const missing = [...names].filter((name) => !new RegExp(`^${name}[ {]`, 'm').test(text));
  expect(missing).toEqual([]);
  expect(text).toContain(
    'homeport_http_request_duration_seconds_count{method="other",route="/v1/installs",status="200"} 1',
  );
  expect(text).toContain('homeport_job_duration_seconds_count{kind="apply_install",outcome="called_off"} 1');
  expect(text).toContain('homeport_host_up{host="web1"} 0');
});

it('has queries in every panel', () => {
  const { panels }: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(dashboard);
  expect(panels.flatMap(({ targets }) => targets).every(({ expr }) => expr !== '')).toBe(true);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

it.skipIf(!existsSync(PROMTOOL))('keeps the conventions of Prometheus', async () => {
  const promtool = (words: string[], input = '') => {
    const { status, stdout, stderr } = spawnSync(PROMTOOL, words, { input, encoding: 'utf8' });
    return { status, output: `${stdout}${stderr}` };
  };
  const rules = promtool(['check', 'rules', join(DEPLOY, 'prometheus-alerts.yml')]);
  expect(rules).toEqual({ status: 0, output: expect.stringContaining('10 rules found') });
  const own = (await exposed()).split('\n').filter((line) => / ?homeport_/.test(line));
  expect(promtool(['check', 'metrics'], `${own.join('\n')}\n`)).toEqual({ status: 0, output: '' });
});
