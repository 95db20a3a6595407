import { setTimeout as sleep } from 'node:timers/promises';
import { cleanText } from '../../wordpress/website-text.ts';
import { type Finding, findings, type SuspectedItem } from './findings.ts';
import { type Look, type Observation, observeAgain } from './observation.ts';

/** A busy machine or a slow database can break one visit. */
const MOST_CHECKS = 3;

export interface CheckOutcome {
  /** On one line. */
  fault: Finding | null;
  /** The first finding that was tolerated. */
  warning: string | null;
}

/**
 * Looks at the same pages again, and returns the first finding that is worse than before, on one line without a full stop. Repeats a
 * failing check after a pause. `suspects`: see {@link findings}.
 */
export async function findFault(
  look: Look,
  before: Observation,
  suspects?: readonly SuspectedItem[],
): Promise<string | null> {
  return (await checkAgain(look, before, { suspects })).fault?.text ?? null;
}

/** As {@link findFault}, but differences of pages that `isTolerated` are warnings. */
export async function checkAgain(
  look: Look,
  before: Observation,
  {
    suspects,
    isTolerated = () => false,
  }: { suspects?: readonly SuspectedItem[] | undefined; isTolerated?: (path: string) => boolean },
): Promise<CheckOutcome> {
  let warning: string | null = null;
  const check = async () => {
    const outcome = judge(findings(before, await observeAgain(look, before), suspects), isTolerated);
    warning = outcome.warning;
    return outcome.fault;
  };
  const fault = await repeatFailing(check, () =>
    sleep(look.pace.pauseMs, undefined, { signal: look.signal }),
  );
  return {
    fault: fault && { ...fault, text: cleanText(fault.text) },
    warning: warning && cleanText(warning),
  };
}

/** Divides findings. A fault comes before differences of pages, because a user may keep those. */
export function judge(all: readonly Finding[], isTolerated: (path: string) => boolean): CheckOutcome {
  const isWarning = ({ differs }: Finding) => differs !== null && isTolerated(differs);
  const wrong = all.filter((finding) => !isWarning(finding));
  return {
    fault: wrong.find(({ differs }) => differs === null) ?? wrong[0] ?? null,
    warning: all.find(isWarning)?.text ?? null,
  };
}

/** Runs a check up to three times until it finds nothing. Returns the last finding. */
export async function repeatFailing<Fault>(
  check: () => Promise<Fault | null>,
  pause: () => Promise<void>,
): Promise<Fault | null> {
  let fault = await check();
  for (let checks = 1; fault !== null && checks < MOST_CHECKS; checks++) {
    await pause();
    fault = await check();
  }
  return fault;
}
