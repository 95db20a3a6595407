/**
 * A small assembler for classic BPF (linux/filter.h), limited to what a system call filter needs. A program is a list of
 * steps. A jump names a label; if its comparison fails, execution continues with the next step.
 */
export type BpfStep =
  | { load: number }
  | { ifEqual: number; goto: string }
  | { ifAtLeast: number; goto: string }
  | { ifAnyBit: number; goto: string }
  | { goto: string }
  | { label: string }
  | { return: number };

const LOAD_WORD = 0x20;
const JUMP_ALWAYS = 0x05;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const INSTRUCTION_BYTES = 8;
/** A conditional jump counts the instructions that it skips in one byte. */
const LONGEST_JUMP = 255;

/** The program as little-endian `struct sock_filter`s. Throws if a label is missing, behind the jump or too far away. */
export function assemble(steps: readonly BpfStep[]): Buffer {
  const labels = new Map<string, number>();
  const instructions: Exclude<BpfStep, { label: string }>[] = [];
  for (const step of steps) {
    if ('label' in step) labels.set(step.label, instructions.length);
    else instructions.push(step);
  }
  const distance = (label: string, from: number) => {
    const skipped = (labels.get(label) ?? -1) - from - 1;
    if (skipped >= 0 && skipped <= LONGEST_JUMP) return skipped;
    throw new Error(`instruction ${from} cannot jump to "${label}"`);
  };
  const program = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  instructions.forEach((step, at) => {
    const write = (code: number, operand: number, ifTrue = 0) => {
      const offset = at * INSTRUCTION_BYTES;
      program.writeUInt16LE(code, offset);
      program.writeUInt8(ifTrue, offset + 2);
      program.writeUInt32LE(operand, offset + 4);
    };
    if ('load' in step) write(LOAD_WORD, step.load);
    else if ('return' in step) write(RETURN, step.return);
    else if ('ifEqual' in step) write(JUMP_IF_EQUAL, step.ifEqual, distance(step.goto, at));
    else if ('ifAtLeast' in step) write(JUMP_IF_AT_LEAST, step.ifAtLeast, distance(step.goto, at));
    else if ('ifAnyBit' in step) write(JUMP_IF_ANY_BIT, step.ifAnyBit, distance(step.goto, at));
    else write(JUMP_ALWAYS, distance(step.goto, at));
  });
  return program;
}
