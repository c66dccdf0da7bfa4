# The server runs its TypeScript directly; only the page's files are built.
# Never built where this was written (no engine there); test/dockerfile.test.ts checks what it names.

FROM node:22-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No runtime dependency needs its install script. Older npm would start node-gyp for better-sqlite3,
# which brings its binary, and this image has no compiler.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# Removes what this image never reads, above all native binaries for other systems.
COPY pack ./pack
RUN node --disable-warning=ExperimentalWarning pack/prune.ts \
    && node -e "import('uWebSockets.js').then(() => new (require('better-sqlite3'))(':memory:'))"

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE THIRD_PARTY.md ./
COPY config ./config
COPY pack ./pack
COPY src ./src
# Takes the types out of the sources and makes the page once, so that no start does.
RUN node --disable-warning=ExperimentalWarning pack/strip.ts \
    && node --disable-warning=ExperimentalWarning pack/page.ts --strict
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# Life, not readiness: a node that is still syncing must not be restarted for it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || process.env.PORT}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself, without a shell or npm in between, so that SIGTERM arrives and the stop is clean.
CMD ["node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=8", "--import", "./pack/useStripped.mjs", "src/server/main.ts"]
