import Type from 'typebox';
import { Value } from 'typebox/value';
import { cleanReason } from '../../wordpress/website-text.ts';
import { busyness, worsenedPage, worsenedState } from './findings.ts';
import { type Observation, observationSchema, observe } from './observation.ts';
import type { ProbeSite } from './probing.ts';

/** Neither task is run: the website would send its mails on both machines. */
const READING = { runs: false } as const;

/** An observation for another machine. */
export async function seenWebsite(site: ProbeSite): Promise<string> {
  return JSON.stringify(await observe(site, [], READING));
}

/** What is worse than on the former machine; null for nothing. Looks a second time, because a new PHP is slow and can be busy. */
export async function movedFault(site: ProbeSite, before: string): Promise<string | null> {
  const former = parsed(before);
  return (await faultOnce(site, former)) === null ? null : faultOnce(site, former);
}

async function faultOnce(site: ProbeSite, former: Observation): Promise<string | null> {
  const now = await observe(site, [], READING);
  const busy = busyness(former.milliseconds, now.milliseconds);
  const pages = new Map(now.pages.map((page) => [page.path, page]));
  const findings = [
    worsenedState(former.state, { state: now.state, failure: null }),
    ...former.pages.map((page) => {
      const seen = pages.get(page.path);
      return seen === undefined ? null : worsenedPage(page, seen, busy);
    }),
  ];
  const fault = findings.find((finding) => finding !== null)?.text ?? null;
  if (fault !== null) return cleanReason(fault);
  const missing = now.missing.find((path) => !former.missing.includes(path));
  return missing === undefined ? null : cleanReason(`the file ${missing} is missing`);
}

function parsed(text: string): Observation {
  return Value.Parse(Type.Object(observationSchema.properties), JSON.parse(text));
}
