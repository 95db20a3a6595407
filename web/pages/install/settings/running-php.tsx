import type { Install } from '../../../api/installs.ts';
import { Section } from '../../../components/page.tsx';
import { OfferedSection, WhyNotOffered } from '../offered.tsx';
import { PhpVersion } from './php-version.tsx';
import { useOfferedPhp } from './use-offered-php.ts';

/** The PHP of an install on the embedded host, or the choice of versions on another host. */
export function RunningPhp({ install }: { install: Install }) {
  const running = useOfferedPhp(install.id).data?.running ?? null;
  if (running === null) {
    return (
      <OfferedSection installId={install.id} need="php_versions" title="PHP">
        <PhpVersion install={install} />
      </OfferedSection>
    );
  }
  const { version, engine } = running;
  return (
    <Section title="PHP">
      <p>
        {engine === 'machine'
          ? `The website runs on PHP ${version} of the machine, with PHP-FPM.`
          : `The website runs on PHP ${version} as WebAssembly. A page takes two to three times the processor time of PHP-FPM. The operator's command "homeport doctor" says why.`}
      </p>
      <WhyNotOffered installId={install.id} need="php_versions" />
    </Section>
  );
}
