import type { DnsAnswer } from './client.ts';
import { isAskable } from './domain-name.ts';
import type { DnsRecord } from './record.ts';

const LONGEST_CHAIN = 10;

/** Where the CNAMEs of a name lead. */
export interface CnameChain {
  /** The CNAME records, in order. */
  cnames: Extract<DnsRecord, { type: 'CNAME' | 'NS' }>[];
  /** The name at the end; the name itself where there is no CNAME. */
  end: string;
  /** The names of the circle, or of a chain longer than ten; else null. */
  loop: string[] | null;
  /** The answer that the end of the chain is in. */
  answer: DnsAnswer;
}

/** Follows CNAMEs through an answer, and with further questions where the answer ends before the chain does. */
export async function followCnames(
  name: string,
  ask: (name: string) => Promise<DnsAnswer>,
): Promise<CnameChain> {
  const cnames: CnameChain['cnames'] = [];
  const names = [name];
  let end = name;
  let asked = name;
  let answer = await ask(name);
  while (true) {
    const cname = cnameOf(answer, end);
    if (cname !== null) {
      cnames.push(cname);
      end = cname.target;
      const isLoop = names.includes(end);
      names.push(end);
      if (isLoop || cnames.length > LONGEST_CHAIN) return { cnames, end, loop: names, answer };
    } else if (asked === end || answer.rcode !== 'NOERROR' || holds(answer, end) || !isAskable(end)) {
      return { cnames, end, loop: null, answer };
    } else {
      asked = end;
      answer = await ask(end);
    }
  }
}

function holds(answer: DnsAnswer, name: string): boolean {
  return answer.answers.some(({ hdr }) => hdr.name === name);
}

/** The CNAME record of exactly this name in an answer. */
export function cnameOf(answer: DnsAnswer, name: string): CnameChain['cnames'][number] | null {
  for (const record of answer.answers) {
    if (record.type === 'CNAME' && record.hdr.name === name) return record;
  }
  return null;
}
