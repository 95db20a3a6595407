/** What the unit of the host process is made from. Paths are absolute. */
export interface HostService {
  node: string;
  program: string;
  /** File of settings, `--config`. */
  settings: string;
}

/**
 * systemd's unit for `homeport host`. The daemons of the websites have units of their own, so a restart of this process
 * takes no website down.
 */
export function hostServiceUnit({ node, program, settings }: HostService): string {
  return [
    '[Unit]',
    'Description=Homeport host: the websites of this machine',
    'After=network-online.target local-fs.target',
    'Wants=network-online.target',
    '',
    '[Service]',
    `ExecStart=${[node, program, '--config', settings, 'host'].map(quoted).join(' ')}`,
    'Restart=always',
    'RestartSec=2',
    'KillMode=mixed',
    'TimeoutStopSec=60',
    'RuntimeDirectory=homeport-host',
    'RuntimeDirectoryPreserve=yes',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
}

/** systemd.service(5), "Command lines": `%` and `$` begin what it would put in. */
function quoted(word: string): string {
  return `"${word.replace(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}
