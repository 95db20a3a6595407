import { readingCases } from '../../websites/reading/reading-cases.fixture.ts';
import { startOperatedWebsite } from './operated-website.fixture.ts';

readingCases(startOperatedWebsite);
