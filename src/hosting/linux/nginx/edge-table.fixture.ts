import { freePort } from '../../../../test/servers/free-port.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { S3Service } from '../../../network/object-storage/s3-address.ts';
import { createDefaultCertificate } from '../../policy/default-certificate.ts';
import { type Ask, ask, type LogLine } from '../../policy/edge.fixture.ts';
import { type EdgeRow, rowOf, sealRow } from '../../policy/edge-row.ts';
import type { Daemons } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { createConfigurationFiles } from './configuration-files.ts';
import { createEdgeControl, type EdgeControl } from './control-client.ts';
import { createEdgeCertificates, type EdgeCertificates } from './edge-certificates.ts';
import {
  EDGE_SIZES,
  type EdgeOptions,
  edgeOptions,
  hasBrotli,
  luaSettings,
  tablePaths,
} from './edge-options.ts';
import { createEdgeTable, type EdgeTable } from './edge-table.ts';
import { installLua } from './lua-files.ts';
import { groupId } from './machine.ts';
import { makeFolders, readMachineOptions, runFiles } from './machine-options.ts';
import { renderEdge } from './render-edge.ts';
import { createRunningNginx, type RunningNginx } from './running-nginx.ts';
import { testConfiguration } from './test-configuration.ts';
import { createTestInstalls, startTestMachine, type TestInstalls } from './test-installs.fixture.ts';
import type { Vhost } from './vhost.ts';

/** The edge with a table of rows, without the host's process around it. Needs root. */
export interface TestEdge extends TestInstalls {
  layout: LinuxLayout;
  options: EdgeOptions;
  table: EdgeTable;
  control: EdgeControl;
  certificates: EdgeCertificates;
  running: RunningNginx;
  daemons: Daemons;
  log: LogLine[];
  http: Ask;
  https: Ask;
  /** The row of an install, with changes. */
  rowOf(vhost: Vhost, changes?: Partial<EdgeRow>): EdgeRow;
  /** Writes the row of an install, its certificates and its names, and tells nginx. */
  serve(vhost: Vhost, changes?: Partial<EdgeRow>): Promise<EdgeRow>;
  close(): Promise<void>;
}

/** `changes` of options, such as small dictionaries. */
export async function startEdge({
  s3 = { endpoint: null, pathStyle: false },
  ...changes
}: Partial<EdgeOptions> & { s3?: S3Service } = {}): Promise<TestEdge> {
  const machine = await startTestMachine();
  const { layout, daemons } = machine;
  const files = createConfigurationFiles(layout.nginx);
  await makeFolders(layout, files);
  const paths = tablePaths(layout);
  const table = createEdgeTable(paths);
  await table.prepare(await groupId('www-data'));
  const run = runFiles(layout);
  const control = createEdgeControl(run.controlSocket);
  const certificates = createEdgeCertificates(paths.certificates, control);
  await certificates.prepare();
  const own = createDefaultCertificate({
    file: files.paths.ownCertificate,
    names: ['hosting.test'],
    clock: systemClock,
    log: machine.log,
  });
  const machineOptions = await readMachineOptions({
    layout,
    edgeHttp: { host: '127.0.0.1', port: await freePort() },
    edgeHttps: { host: '127.0.0.1', port: await freePort() },
    trustedProxies: [],
    instance: machine.instance,
    files,
    resolvers: null,
  });
  const sizes = changes.sizes ?? EDGE_SIZES;
  const brotli = changes.brotli ?? (await hasBrotli());
  const options: EdgeOptions = {
    ...edgeOptions(machineOptions, {
      lua: await installLua(paths.lua, luaSettings(paths, { ...machineOptions, sizes, brotli })),
      sizes,
      brotli,
    }),
    ownFingerprint: (await own.ensure()).fingerprint,
    forwarding: null,
    ...changes,
  };
  const { generation, text } = renderEdge(options);
  const file = await files.writeGeneration(text);
  const running = createRunningNginx({
    daemons,
    instance: machine.instance,
    configuration: files.paths.currentFile,
    statusSocket: run.statusSocket,
    sockets: [run.storageSocket, run.controlSocket, run.innerSocket, run.primarySocket],
  });
  try {
    const { refusal } = await testConfiguration(file);
    if (refusal !== null) throw new Error(refusal);
    await files.switchTo(file);
    await running.ensure(generation);
  } catch (error) {
    await machine.close();
    throw error;
  }
  const rowFor = ({ state, uid }: Vhost, rowChanges: Partial<EdgeRow> = {}) =>
    sealRow({
      ...rowOf(state, {
        home: layout.homeOf(state.id),
        root: layout.htdocsOf(state.id),
        php: `unix:${layout.phpSocketOf(state.id)}`,
        uid,
        defaultDomain: `${state.name}.hosting.test`,
        s3,
      }),
      ...rowChanges,
    });

  return {
    ...createTestInstalls(machine),
    layout,
    options,
    table,
    control,
    certificates,
    running,
    daemons,
    log: machine.lines,
    http: (hostname, path, asked) => ask('http', options.edgeHttp.port, hostname, path, asked),
    https: (hostname, path, asked) => ask('https', options.edgeHttps.port, hostname, path, asked),
    rowOf: rowFor,
    async serve(vhost, rowChanges) {
      const row = rowFor(vhost, rowChanges);
      const used = vhost.state.hostnames.map(({ certificate }) => certificate);
      await certificates.add(used.filter((certificate) => certificate !== null));
      await table.writeRow(row);
      for (const name of Object.keys(row.names)) await table.setHolder(name, row.id);
      await control.installChanged(row.id);
      await control.namesChanged();
      return row;
    },
    close: () => machine.close(),
  };
}
