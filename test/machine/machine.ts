import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, runCommand } from '../../src/lib/run-command.ts';
import { freePort } from '../servers/free-port.ts';
import type { MachineImage } from './machine-image.ts';

export interface MachineOptions {
  image: MachineImage;
  /** The machine's own: its disk, its console. Emptied first. */
  folder: string;
  memoryMb: number;
  processors: number;
  accelerator: string;
  /** How long a boot and a shutdown may take, in milliseconds. */
  bootMs: number;
}

/** A virtual machine with a private disk. */
export interface Machine {
  /** File with the output of the serial console, of all boots. */
  console: string;
  /** Starts it and waits until it takes connections. */
  boot(): Promise<void>;
  /** Runs a line of shell and gives what it wrote. `input` is its standard input. Rejects if it fails. */
  run(user: 'root' | 'admin', line: string, options?: RunOptions): Promise<string>;
  /** Asks it to restart, and waits until it has. */
  reboot(): Promise<void>;
  /** The power fails: what the guest had not written to its disk is lost. */
  cutPower(): Promise<void>;
  /** Ends it, however it is. */
  end(): Promise<void>;
}

interface RunOptions {
  input?: string;
  timeoutMs?: number;
}

const BOOT_ID = 'cat /proc/sys/kernel/random/boot_id';
/** With `max`, qemu 7.2 let two of some 40 Node commands crash inside V8. With this model it is rarer: one crash in two runs. */
const EMULATED = 'Nehalem';
/**
 * Without `mitigations=off`, Nehalem's lack of protection against Meltdown makes the kernel switch page tables at each system call, and
 * qemu forgets all its address translations each time.
 */
const KERNEL_OPTIONS = 'root=LABEL=root rw quiet console=ttyS0 mitigations=off';
const LOOK_EVERY_MS = 500;
/** How much of a failed command's output an error shows. */
const SHOWN_LENGTH = 4_000;
/** A connection that a machine in mid-boot accepts and does not serve. */
const CONNECT_MS = 20_000;

export async function createMachine(options: MachineOptions): Promise<Machine> {
  const { image, folder, memoryMb, processors, accelerator, bootMs } = options;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const disk = join(folder, 'disk.qcow2');
  const serial = join(folder, 'console.log');
  const shared = join(folder, 'ssh');
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', image.disk, disk]);
  let qemu: ChildProcess | null = null;
  let port = 0;
  let said = '';

  function start(): void {
    const child = spawn(
      'qemu-system-x86_64',
      [
        ...['-nodefaults', '-no-user-config', '-display', 'none'],
        ...['-machine', `q35,accel=${accelerator}`, '-cpu', accelerator === 'kvm' ? 'host' : EMULATED],
        ...['-smp', String(processors), '-m', String(memoryMb)],
        ...['-kernel', image.kernel, '-initrd', image.initrd],
        ...['-append', KERNEL_OPTIONS],
        // As a disk with a cache does, qemu loses what the guest did not flush; the guest's own cache is lost anyway.
        ...['-drive', `file=${disk},format=qcow2,if=virtio,cache=writeback,discard=unmap`],
        ...['-device', 'virtio-rng-pci', '-device', 'virtio-net-pci,netdev=net'],
        ...['-netdev', `user,id=net,hostfwd=tcp:127.0.0.1:${port}-:22`],
        ...['-chardev', `file,id=console,path=${serial},append=on`, '-serial', 'chardev:console'],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    for (const output of [child.stdout, child.stderr]) output.on('data', (part) => (said += String(part)));
    child.once('error', (error) => (said += error.message));
    child.once('exit', () => {
      if (qemu === child) qemu = null;
    });
    qemu = child;
  }

  async function run(
    user: string,
    line: string,
    { input = '', timeoutMs = 120_000 }: RunOptions = {},
  ): Promise<string> {
    const settings = {
      BatchMode: 'yes',
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: '/dev/null',
      LogLevel: 'ERROR',
      IdentitiesOnly: 'yes',
      ConnectTimeout: String(CONNECT_MS / 1000),
      // One handshake for all commands: an emulated processor takes seconds for each.
      ControlMaster: 'auto',
      ControlPath: `${shared}-%r`,
      ControlPersist: 'yes',
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    const where = ['-F', 'none', '-i', image.key, '-p', String(port), `${user}@127.0.0.1`];
    try {
      return (await runCommand('ssh', [...flags, ...where, line], { input, timeoutMs })).stdout;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { status, stdout, stderr } = error;
      const ending = status === null ? `did not end in ${timeoutMs / 1000} s` : `ended with status ${status}`;
      const said = `${stdout}\n${stderr}`.trim().slice(-SHOWN_LENGTH);
      throw new CommandError(`"${line}" ${ending}: ${said}`, error);
    }
  }

  const bootId = () => run('root', BOOT_ID, { timeoutMs: CONNECT_MS });

  async function untilBooted(before: string | null): Promise<void> {
    const deadline = Date.now() + bootMs;
    for (let last = ''; ; await pause(LOOK_EVERY_MS)) {
      if (qemu === null) throw new Error(`qemu has ended: ${said.trim()}`);
      try {
        if ((await bootId()) !== before) return;
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        last = error.message;
      }
      if (Date.now() > deadline) {
        throw new Error(`the machine takes no connections after ${bootMs / 1000} s: ${last}`);
      }
    }
  }

  async function kill(): Promise<void> {
    const child = qemu;
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  return {
    console: serial,

    async boot() {
      port = await freePort();
      start();
      await untilBooted(null);
    },
    run,
    async reboot() {
      const before = await bootId();
      // The connection goes with the machine.
      await run('root', 'systemctl reboot').catch(() => {});
      await untilBooted(before);
    },
    cutPower: kill,
    end: kill,
  };
}
