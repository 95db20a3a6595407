import type { ReactNode } from 'react';
import { type Capability, type CapabilityName, useCapabilities } from '../../api/capabilities.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, MainSection, Section } from '../../components/page.tsx';

interface OfferedProps {
  installId: string;
  /** What the host of the install must do for the content. */
  need: CapabilityName;
  children: ReactNode;
}

/** The content of a page, or why the host of the install does not offer it and how to get it. */
export function OfferedPage({ installId, need, children }: OfferedProps) {
  const capabilities = useCapabilities(installId);
  return (
    <Loaded query={capabilities} what="what the host offers">
      {(known) => {
        const missing = missingIn(known, need);
        return missing === undefined ? (
          children
        ) : (
          <MainSection>
            <Empty>{whyNot(missing)}</Empty>
          </MainSection>
        );
      }}
    </Loaded>
  );
}

/** A section of a page, or a section with that title that says why the host of the install does not offer it and how to get it. */
export function OfferedSection({ installId, need, title, children }: OfferedProps & { title: string }) {
  const { data } = useCapabilities(installId);
  if (data === undefined) return null;
  const missing = missingIn(data, need);
  if (missing === undefined) return children;
  return (
    <Section title={title}>
      <p>{whyNot(missing)}</p>
    </Section>
  );
}

/** Why the host of the install does not do something; nothing if it does, and until that is known. */
export function WhyNotOffered({ installId, need }: Omit<OfferedProps, 'children'>) {
  const { data } = useCapabilities(installId);
  const missing = data && missingIn(data, need);
  return missing === undefined ? null : <p>{whyNot(missing)}</p>;
}

function missingIn(known: ReadonlyMap<CapabilityName, Capability>, need: CapabilityName) {
  const capability = known.get(need);
  return capability?.available === false ? capability : undefined;
}

const whyNot = ({ reason, remedy }: Capability) => [reason, remedy].filter((one) => one !== null).join(' ');
