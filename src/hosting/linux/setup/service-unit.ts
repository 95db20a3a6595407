import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import { PROGRAM_FOLDER } from '../../../lib/own-command.ts';
import { commandWord, quoted } from '../daemons/systemd-unit.ts';

export const HOST_UNIT = 'homeport-host.service';
export const CONTROL_PLANE_UNIT = 'homeport.service';
/** By its name, systemd gives its sockets to {@link CONTROL_PLANE_UNIT}. */
export const CONTROL_PLANE_SOCKET = 'homeport.socket';

/** First line of the units of set-up. */
export const WRITTEN_BY =
  '# Written by "homeport host setup"; changes are overwritten. Use "systemctl edit" to override settings.';

/** The command that starts Homeport in a unit. Paths are absolute. */
export interface Service {
  node: string;
  program: string;
  /** File of settings, `--config`. Both services read the same one. */
  settings: string;
}

/**
 * The unit of `homeport host`. The daemons of the websites have their own units, so that restarting this process takes no
 * website down.
 */
export function hostServiceUnit(service: Service): string {
  return unit({
    description: 'Homeport host: the websites of this machine',
    wants: ['network-online.target'],
    program: service.program,
    service: [
      `ExecStart=${command(service, 'host')}`,
      'KillMode=mixed',
      'TimeoutStopSec=60',
      'RuntimeDirectory=homeport-host',
      'RuntimeDirectoryPreserve=yes',
    ],
  });
}

export interface ControlPlaneService extends Service {
  user: string;
  group: string;
  /** Writable folders. Everything else is read-only. */
  writable: readonly string[];
  /** Writable folders that need not exist when it starts. */
  optional?: readonly string[];
  /** Ports that it listens on. Those below 1024 need a capability. */
  ports: readonly number[];
}

/**
 * The unit of `homeport serve`. It is not ordered after the host: the API and the portal answer while the host is still
 * starting, and jobs wait for it.
 */
export function controlPlaneUnit(service: ControlPlaneService): string {
  const writable = [...service.writable, ...(service.optional ?? []).map((folder) => `-${folder}`)];
  const capabilities = service.ports.some((port) => port > 0 && port < 1024) ? 'CAP_NET_BIND_SERVICE' : '';
  return unit({
    description: 'Homeport control plane: API, portal and jobs',
    wants: ['network-online.target', HOST_UNIT, CONTROL_PLANE_SOCKET],
    program: service.program,
    service: [
      `ExecStart=${command(service, 'serve')}`,
      `User=${service.user}`,
      `Group=${service.group}`,
      'WorkingDirectory=/',
      // The server finishes requests and jobs within 15 s.
      'TimeoutStopSec=30',
      'UMask=0077',
      'LimitNOFILE=65536',
      `ReadWritePaths=${writable.map(quoted).join(' ')}`,
      ...HARDENING,
      `CapabilityBoundingSet=${capabilities}`,
      `AmbientCapabilities=${capabilities}`,
    ],
  });
}

/** The socket of the control plane, which systemd holds, so that connections wait while the service restarts. The address is an IP address. */
export function controlPlaneSocket(address: ListenAddress): string {
  return [
    WRITTEN_BY,
    '[Unit]',
    'Description=Homeport control plane: connections to the API and the portal',
    '',
    '[Socket]',
    `ListenStream=${hostAndPort(address)}`,
    '',
    '[Install]',
    'WantedBy=sockets.target',
    '',
  ].join('\n');
}

/**
 * systemd.exec(5). MemoryDenyWriteExecute is missing because V8 compiles at run time. ProcSubset=pid is missing because Node
 * reads the machine's memory from /proc.
 */
const HARDENING = [
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectProc=invisible',
  'ProtectClock=yes',
  'ProtectHostname=yes',
  'ProtectControlGroups=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'RemoveIPC=yes',
  'KeyringMode=private',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@privileged @obsolete',
  'SystemCallErrorNumber=EPERM',
];

/**
 * Refuses to start while dpkg unpacks the package: a connection to a socket would start a mixture of two versions. systemd tries again every
 * two seconds, so a boot after a kill of dpkg does not wait. A clone beside the package starts. deploy/embedded/homeport.service has it, too.
 */
export const NOT_WHILE_UNPACKING = `ExecStartPre=/bin/sh -c 'if dpkg-query --status homeport 2> /dev/null | grep -q "^Status:.* half-installed"; then echo "dpkg has not unpacked Homeport yet. If it was interrupted, run what installed it again: homeport upgrade, or dpkg --install FILE"; exit 1; fi'`;

function command({ node, program, settings }: Service, word: string): string {
  return [node, program, '--config', settings, word].map(commandWord).join(' ');
}

function unit(options: {
  description: string;
  wants: string[];
  /** The file that the service runs. */
  program: string;
  service: string[];
}): string {
  return [
    WRITTEN_BY,
    '[Unit]',
    `Description=${options.description}`,
    `Wants=${options.wants.join(' ')}`,
    'After=network-online.target local-fs.target',
    // systemd never gives up restarting it.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=notify',
    // The message comes from systemd-notify, a child of the main process.
    'NotifyAccess=all',
    ...(options.program.startsWith(`${PROGRAM_FOLDER}/`) ? [NOT_WHILE_UNPACKING] : []),
    ...options.service,
    'Restart=always',
    'RestartSec=2',
    // A large migration, or thousands of websites after a reboot, may take many minutes.
    'TimeoutStartSec=infinity',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
}
