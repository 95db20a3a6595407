const VERDICTS: Partial<Record<number, string>> = {
  2147418112: 'allowed',
  327681: 'EPERM',
  327718: 'ENOSYS',
  2143289344: 'asked',
};

/** Decides about a call as the kernel does: runs a classic BPF program over `struct seccomp_data` (linux/seccomp.h). */
export function verdict(program: Buffer, architecture: number, number: number, args: number[] = []): string {
  const call = Buffer.alloc(64);
  call.writeUInt32LE(number, 0);
  call.writeUInt32LE(architecture, 4);
  args.forEach((arg, at) => {
    call.writeBigUInt64LE(BigInt(arg), 16 + 8 * at);
  });
  let loaded = 0;
  for (let at = 0; ; at += 8) {
    const operand = program.readUInt32LE(at + 4);
    const jump = (does: boolean) => 8 * program.readUInt8(does ? at + 2 : at + 3);
    switch (program.readUInt16LE(at)) {
      case 0x20:
        loaded = call.readUInt32LE(operand);
        break;
      case 0x05:
        at += 8 * operand;
        break;
      case 0x15:
        at += jump(loaded === operand);
        break;
      case 0x35:
        at += jump(loaded >= operand);
        break;
      case 0x45:
        at += jump((loaded & operand) !== 0);
        break;
      case 0x06:
        return VERDICTS[operand] ?? `${operand}`;
      default:
        throw new Error(`instruction ${at / 8} is unknown`);
    }
  }
}
