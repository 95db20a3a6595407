/** Series for an alert, in the notation of `promtool test rules`, with those that make it fire and those that do not. */
export interface AlertCase {
  alert: string;
  /** Minutes after the start at which it is looked at. */
  after: number;
  fires: Record<string, string>;
  quiet: Record<string, string>;
}

const DAY = 86_400;

/** Every alert has a case: a test compares them. Values change each minute. */
export const ALERT_CASES: AlertCase[] = [
  { alert: 'HomeportDown', after: 20, ...values('up{job="homeport"}', '0x20', '1x20') },
  { alert: 'HomeportHostDown', after: 20, ...values('homeport_host_up{host="web1"}', '1 0x20', '0 0 1x20') },
  { alert: 'HomeportWebsitesDown', after: 20, ...values('homeport_incidents_open', '1x20', '1x5 0x15') },
  {
    alert: 'HomeportRequestsFail',
    after: 30,
    ...values(
      'homeport_http_request_duration_seconds_count{route="/a",method="GET",status="500"}',
      '0+5x30',
      '0+1x30',
      { 'homeport_http_request_duration_seconds_count{route="/a",method="GET",status="200"}': '0+100x30' },
    ),
  },
  {
    alert: 'HomeportJobsWait',
    after: 40,
    ...values('homeport_jobs{class="short",state="queued"}', '60x40', '60x20 10 60x20'),
  },
  {
    alert: 'HomeportCertificatesExpire',
    after: 90,
    ...values('homeport_certificates_expiring{within_days="7"}', '1x90', '0x90', {
      'homeport_certificates_expiring{within_days="14"}': '3x90',
    }),
  },
  {
    alert: 'HomeportCertificatesFail',
    after: 800,
    ...values('homeport_certificates_failing', '2x800', '2x600 0x20 2x180'),
  },
  {
    alert: 'HomeportInstallsWithoutBackup',
    after: 150,
    ...values('homeport_installs_without_recent_backup', '1x150', '1x60 0x90'),
  },
  {
    alert: 'HomeportRecoveryPointsLate',
    after: 30,
    ...values('homeport_recovery_points_late{host="web1"}', '1x30', '1x10 0x20'),
  },
  {
    alert: 'HomeportBackupsCannotBeRestored',
    after: 10,
    ...values('homeport_restore_checks_failing', '1x10', '0x10'),
  },
  {
    alert: 'HomeportPlatformBackupLate',
    // The time of the test begins in 1970, so the last backup was then.
    after: (1.5 * DAY) / 60,
    ...values(
      'homeport_platform_backup_last_success_timestamp_seconds',
      `60x${(1.5 * DAY) / 60}`,
      `${DAY}x${(1.5 * DAY) / 60}`,
    ),
  },
  {
    alert: 'HomeportConnectionsRefused',
    after: 30,
    ...values('homeport_connections_refused_total{server="api"}', '0+1x30', '5x30'),
  },
  {
    alert: 'HomeportOperationsFail',
    after: 60,
    ...values(
      'homeport_operation_duration_seconds_count{kind="wordpress.update",status="failed"}',
      '0x30 0+1x30',
      '0x50 1x10',
      {
        'homeport_operation_duration_seconds_count{kind="wordpress.update",status="succeeded"}': '0+9x60',
      },
    ),
  },
  {
    alert: 'HomeportWebsitesFail',
    after: 30,
    ...values('homeport_edge_requests_total{host="web1",status="5xx"}', '0+60x30', '0+20x30', {
      'homeport_edge_requests_total{host="web1",status="2xx"}': '0+600x30',
    }),
  },
  {
    alert: 'HomeportPhpWaits',
    after: 20,
    ...values('homeport_php_requests_waiting{host="web1"}', '12x20', '12x15 0 12x5'),
  },
  {
    alert: 'HomeportPhpRestarts',
    after: 60,
    ...values('homeport_php_restarts_total{host="web1"}', '0+1x60', '40x60'),
  },
  {
    alert: 'HomeportWordPressUpdatesFail',
    after: 10,
    ...values('homeport_wordpress_updates_failed', '11x10', '10x10'),
  },
  {
    alert: 'HomeportCronLate',
    after: 40,
    ...values('homeport_wordpress_cron_late{host="web1"}', '2x40', '2x20 0x15 2x20'),
  },
];

function values(
  series: string,
  firing: string,
  quiet: string,
  besides: Record<string, string> = {},
): Pick<AlertCase, 'fires' | 'quiet'> {
  return { fires: { [series]: firing, ...besides }, quiet: { [series]: quiet, ...besides } };
}

/** The cases as a file for `promtool test rules`. JSON is YAML. */
export function ruleTests(rules: string): string {
  const input = (series: Record<string, string>) =>
    Object.entries(series).map(([name, numbers]) => ({ series: name, values: numbers }));
  const test = ({ alert, after }: AlertCase, series: Record<string, string>, firing: number) => ({
    name: `${alert}: ${firing}`,
    interval: '1m',
    input_series: input(series),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: `${after}m`,
        exp_samples: [{ labels: '{}', value: firing }],
      },
    ],
  });
  return JSON.stringify({
    rule_files: [rules],
    // Times of looks are multiples of it.
    evaluation_interval: '10m',
    tests: ALERT_CASES.flatMap((one) => [test(one, one.fires, 1), test(one, one.quiet, 0)]),
  });
}
