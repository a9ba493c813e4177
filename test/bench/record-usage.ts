import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// Loaded into the measured process: only the process itself knows its usage at its end.
const file = process.env['BENCH_USAGE'];
if (isMainThread && file !== undefined) {
  delete process.env['BENCH_USAGE'];
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeFileSync(file, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, memory: maxRSS / 1024 }));
  });
}
