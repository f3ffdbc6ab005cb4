"""Whether the daemon is well, and whether it can hear yet."""

from fastapi import APIRouter, Depends, Request

from keryx.server.access import house, require_key
from keryx.server.stream import voice_out
from keryx.server.wire import Health, Problem, VoiceOut

router = APIRouter()


@router.get("/health", tags=["daemon"])
async def health(request: Request) -> Health:
    """Whether the daemon is well. Needs no key and says nothing private."""
    keryx = house(request)
    return Health(status="ok", voice=keryx.loading.state, calls=len(keryx.live), version=keryx.version)


@router.get("/api/voice", tags=["daemon"], dependencies=[Depends(require_key)], responses={401: {"model": Problem}})
async def voice(request: Request) -> VoiceOut:
    """Whether Keryx can hear and speak: how far the speech models are loaded, or why it is typing only."""
    return voice_out(house(request))
