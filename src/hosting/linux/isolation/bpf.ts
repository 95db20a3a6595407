/**
 * A small assembler for classic BPF (linux/filter.h): only what a filter of system calls needs. A program is a list of
 * steps; a jump names a label, and falls through to the next step if its comparison fails.
 */
export type BpfStep =
  | { load: number }
  | { ifEqual: number; goto: string }
  | { ifAtLeast: number; goto: string }
  | { goto: string }
  | { label: string }
  | { give: number };

const LOAD_WORD = 0x20;
const JUMP_ALWAYS = 0x05;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const GIVE = 0x06;

const INSTRUCTION_BYTES = 8;
/** A conditional jump counts the instructions that it skips in one byte. */
const LONGEST_JUMP = 255;

/** The program as little-endian `struct sock_filter`s. Throws if a label is missing, lies behind or is too far away. */
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
    throw new Error(`no jump leads from instruction ${from} to "${label}"`);
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
    else if ('give' in step) write(GIVE, step.give);
    else if ('ifEqual' in step) write(JUMP_IF_EQUAL, step.ifEqual, distance(step.goto, at));
    else if ('ifAtLeast' in step) write(JUMP_IF_AT_LEAST, step.ifAtLeast, distance(step.goto, at));
    else write(JUMP_ALWAYS, distance(step.goto, at));
  });
  return program;
}
